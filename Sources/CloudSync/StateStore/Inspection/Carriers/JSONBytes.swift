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

  private enum Fault: Error {
    case broken(String)
  }

  private let bytes: ArraySlice<UInt8>
  private var position: Int
  private var frames: [Frame] = []
  private(set) var found: [CarriedBytes] = []
  /// Where and why the reading ended early.
  private(set) var fault: String?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes.withoutByteOrderMark
    position = self.bytes.startIndex
  }

  /// Reads to the end or to the first fault.
  mutating func read() {
    do throws(Fault) {
      repeat { try readValue() } while try advance()
      skipSpace()
      if position < bytes.endIndex { throw .broken("something stands behind its end") }
    } catch {
      switch error {
      case .broken(let reason): fault = "\(reason) at byte \(position)"
      }
      for index in frames.indices.reversed() { keepNumbers(of: index, isWhole: false) }
    }
  }

  /// Reads one value, or the opening of a list or an object with everything up to its first value.
  private mutating func readValue() throws(Fault) {
    while true {
      skipSpace()
      guard let first = peek else { throw .broken("it ends early") }
      switch first {
      case UInt8(ascii: "{"):
        position += 1
        skipSpace()
        forbidNumbers()
        if take(UInt8(ascii: "}")) { return }
        frames.append(Frame(isObject: true))
        try readKey()
      case UInt8(ascii: "["):
        position += 1
        skipSpace()
        forbidNumbers()
        if take(UInt8(ascii: "]")) { return }
        frames.append(Frame(isObject: false, numbers: []))
      case UInt8(ascii: "\""):
        forbidNumbers()
        let text = readText()
        keep(text.content, isWhole: text.isClosed)
        if !text.isClosed { throw .broken("a text does not end") }
        return
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        readNumber()
        return
      case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
        forbidNumbers()
        try readWord()
        return
      default: throw .broken("there is no value")
      }
    }
  }

  /// Goes on behind a value to the next one; `false` at the end.
  private mutating func advance() throws(Fault) -> Bool {
    while let frame = frames.last {
      skipSpace()
      if take(UInt8(ascii: ",")) {
        frames[frames.count - 1].index += 1
        if frame.isObject { try readKey() }
        return true
      }
      guard take(UInt8(ascii: frame.isObject ? "}" : "]")) else {
        throw .broken(frame.isObject ? "an object does not go on" : "a list does not go on")
      }
      keepNumbers(of: frames.count - 1, isWhole: true)
      frames.removeLast()
    }
    return false
  }

  private mutating func readKey() throws(Fault) {
    skipSpace()
    guard peek == UInt8(ascii: "\"") else { throw .broken("a member has no name") }
    let text = readText()
    skipSpace()
    guard text.isClosed, take(UInt8(ascii: ":")) else { throw .broken("a member has no value") }
    frames[frames.count - 1].key = String(decoding: text.content, as: UTF8.self)
  }

  /// Reads a text from its first quotation mark on.
  private mutating func readText() -> (content: [UInt8], isClosed: Bool) {
    var content: [UInt8] = []
    position += 1
    while let next = peek {
      position += 1
      switch next {
      case UInt8(ascii: "\""): return (content, true)
      case UInt8(ascii: "\\"): readEscape(into: &content)
      default: content.append(next)
      }
    }
    return (content, false)
  }

  private mutating func readEscape(into content: inout [UInt8]) {
    guard let kind = peek else { return }
    position += 1
    switch kind {
    case UInt8(ascii: "n"): content.append(0x0a)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "r"): content.append(0x0d)
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0c)
    case UInt8(ascii: "u"):
      var units = [readUnit()]
      if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: "\\u".utf8) {
        position += 2
        units.append(readUnit())
      }
      content.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
    default: content.append(kind)
    }
  }

  /// Four hexadecimal digits; what is none counts as a sign that can't be shown.
  private mutating func readUnit() -> UInt16 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4, let text = String(validating: digits, as: UTF8.self),
      let unit = UInt16(text, radix: 16)
    else { return 0xfffd }
    position += 4
    return unit
  }

  private mutating func readNumber() {
    let start = position
    while let next = peek, "+-.eE0123456789".utf8.contains(next) { position += 1 }
    guard let last = frames.indices.last, frames[last].numbers != nil else { return }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = UInt8(text) else { return forbidNumbers() }
    frames[last].numbers?.append(value)
    let count = frames[last].numbers?.count ?? 0
    let magic = StateReading.stateMagic
    if count <= magic.count, magic[count - 1] != value { forbidNumbers() }
  }

  private mutating func readWord() throws(Fault) {
    let words = ["true", "false", "null"]
    guard let word = words.first(where: { bytes[position...].starts(with: $0.utf8) }) else {
      throw .broken("there is no value")
    }
    position += word.utf8.count
  }

  private mutating func forbidNumbers() {
    if let last = frames.indices.last { frames[last].numbers = nil }
  }

  private mutating func keepNumbers(of index: Int, isWhole: Bool) {
    guard index < Carrier.deepest, let numbers = frames[index].numbers,
      numbers.count >= StateReading.stateMagic.count
    else { return }
    let place = place(upTo: index)
    found.append(CarriedBytes(place: place, bytes: numbers, isWhole: isWhole))
  }

  private mutating func keep(_ text: [UInt8], isWhole: Bool) {
    guard frames.count <= Carrier.deepest, Base64Text.isCandidate(text) else { return }
    let (bytes, isClean) = Base64Text.decode(text)
    found.append(
      CarriedBytes(place: place(upTo: frames.count), bytes: bytes, isWhole: isWhole && isClean))
  }

  private func place(upTo count: Int) -> [String] {
    frames.prefix(count).map { $0.isObject ? $0.key ?? "" : String($0.index) }
  }

  private var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let next = peek, next.isSpace { position += 1 }
  }
}
