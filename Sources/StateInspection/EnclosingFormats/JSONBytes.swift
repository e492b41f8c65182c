import WebServices

/// Walks through JSON and keeps the runs of bytes in it: base64 texts, and lists of small numbers.
///
/// It takes no more memory than what it keeps, does not call itself, and reads on to the first
/// fault, so that a file cut short still gives what it holds.
struct JSONBytes {
  private struct Frame {
    var isObject: Bool
    /// The member being read, or `nil` in front of one.
    var key: String?
    var index = 0
    /// The list so far, while it may be the bytes of a state.
    var numbers: [UInt8]?
  }

  private var scanner: JSONScanner
  private var frames: [Frame] = []
  private(set) var found: [EmbeddedBytes] = []
  /// Where and why the reading ended early.
  private(set) var fault: String?

  init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

  /// Reads to the end or to the first fault.
  mutating func read() {
    do throws(JSONParsingError) {
      repeat { try readValue() } while try advance()
      scanner.skipSpace()
      if scanner.byte != nil { throw scanner.fault("there is data after its end") }
    } catch {
      fault = "\(error.reason) at byte \(error.offset)"
      for index in frames.indices.reversed() { keepNumbers(of: index, isWhole: false) }
    }
  }

  /// Reads one value, or the opening of a list or an object with everything up to its first value.
  private mutating func readValue() throws(JSONParsingError) {
    while true {
      scanner.skipSpace()
      guard let first = scanner.byte else { throw scanner.fault("it ends early") }
      switch first {
      case UInt8(ascii: "{"):
        scanner.position += 1
        scanner.skipSpace()
        forbidNumbers()
        if scanner.take(UInt8(ascii: "}")) { return }
        frames.append(Frame(isObject: true))
        try readKey()
      case UInt8(ascii: "["):
        scanner.position += 1
        scanner.skipSpace()
        forbidNumbers()
        if scanner.take(UInt8(ascii: "]")) { return }
        frames.append(Frame(isObject: false, numbers: []))
      case UInt8(ascii: "\""):
        forbidNumbers()
        let text = readText()
        keep(text.content, isWhole: text.isClosed)
        if !text.isClosed { throw scanner.fault("a string does not end") }
        return
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        readNumber()
        return
      case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
        forbidNumbers()
        _ = try scanner.word()
        return
      default: throw scanner.fault("there is no value")
      }
    }
  }

  /// Goes on behind a value to the next one; `false` at the end.
  private mutating func advance() throws(JSONParsingError) -> Bool {
    while let frame = frames.last {
      scanner.skipSpace()
      if scanner.take(UInt8(ascii: ",")) {
        frames[frames.count - 1].index += 1
        if frame.isObject { try readKey() }
        return true
      }
      guard scanner.take(UInt8(ascii: frame.isObject ? "}" : "]")) else {
        throw scanner.fault(frame.isObject ? "an object is incomplete" : "a list is incomplete")
      }
      keepNumbers(of: frames.count - 1, isWhole: true)
      frames.removeLast()
    }
    return false
  }

  private mutating func readKey() throws(JSONParsingError) {
    scanner.skipSpace()
    guard scanner.byte == UInt8(ascii: "\"") else { throw scanner.fault("a member has no name") }
    let text = readText()
    scanner.skipSpace()
    guard text.isClosed, scanner.take(UInt8(ascii: ":")) else {
      throw scanner.fault("a member has no value")
    }
    frames[frames.count - 1].key = String(decoding: text.content, as: UTF8.self)
  }

  /// Reads a text from its first quotation mark on, with what no text of JSON may have in it.
  private mutating func readText() -> (content: [UInt8], isClosed: Bool) {
    var content: [UInt8] = []
    scanner.position += 1
    while true {
      do throws(JSONParsingError) {
        try scanner.readText(into: &content)
        return (content, true)
      } catch {
        guard let next = scanner.byte else { return (content, false) }
        // An escape that is none may be followed by one, or by the end.
        guard next != UInt8(ascii: "\""), next != UInt8(ascii: "\\") else { continue }
        content.append(next)
        scanner.position += 1
      }
    }
  }

  private mutating func readNumber() {
    let start = scanner.position
    while let next = scanner.byte, "+-.eE0123456789".utf8.contains(next) { scanner.position += 1 }
    guard let last = frames.indices.last, frames[last].numbers != nil else { return }
    let text = String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
    guard let value = UInt8(text) else { return forbidNumbers() }
    frames[last].numbers?.append(value)
    let count = frames[last].numbers?.count ?? 0
    let magic = StateReading.stateMagic
    if count <= magic.count, magic[count - 1] != value { forbidNumbers() }
  }

  private mutating func forbidNumbers() {
    if let last = frames.indices.last { frames[last].numbers = nil }
  }

  private mutating func keepNumbers(of index: Int, isWhole: Bool) {
    guard index < EnclosingFormat.deepest, let numbers = frames[index].numbers,
      numbers.count >= StateReading.stateMagic.count
    else { return }
    let place = place(upTo: index)
    found.append(EmbeddedBytes(place: place, bytes: numbers, isWhole: isWhole))
  }

  private mutating func keep(_ text: [UInt8], isWhole: Bool) {
    guard frames.count <= EnclosingFormat.deepest, Base64Text.isCandidate(text) else { return }
    let (bytes, isClean) = Base64Text.decode(text)
    found.append(
      EmbeddedBytes(place: place(upTo: frames.count), bytes: bytes, isWhole: isWhole && isClean))
  }

  private func place(upTo count: Int) -> [String] {
    frames.prefix(count).map { $0.isObject ? $0.key ?? "" : String($0.index) }
  }
}
