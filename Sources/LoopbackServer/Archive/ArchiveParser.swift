/// Reads one line of an archive as JSON; anything else is a fault, never a trap.
struct ArchiveParser {
  /// How deep values may nest; more would be an attack on the stack.
  private static let deepest = 64

  private let bytes: ArraySlice<UInt8>
  private var position: Int

  private init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The value that `line` is, all of it.
  static func value(of line: ArraySlice<UInt8>) throws(ArchiveFault) -> ArchiveJSON {
    var parser = ArchiveParser(line)
    let value = try parser.value(depth: 0)
    guard parser.position == line.endIndex else {
      throw ArchiveFault("something follows where the line must end")
    }
    return value
  }

  private var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private func notJSON() -> ArchiveFault { ArchiveFault("it is no JSON as an archive has it") }

  private mutating func value(depth: Int) throws(ArchiveFault) -> ArchiveJSON {
    guard depth < ArchiveParser.deepest else { throw ArchiveFault("values nest too deep") }
    switch next {
    case UInt8(ascii: "{"): return .object(try members(depth: depth))
    case UInt8(ascii: "["): return .list(try elements(depth: depth))
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "t") where take(word: "true"): return .flag(true)
    case UInt8(ascii: "f") where take(word: "false"): return .flag(false)
    case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte):
      return number()
    default: throw notJSON()
    }
  }

  private mutating func members(depth: Int) throws(ArchiveFault) -> [ArchiveJSON.Member] {
    var members: [ArchiveJSON.Member] = []
    position += 1
    if take(UInt8(ascii: "}")) { return members }
    while true {
      guard next == UInt8(ascii: "\"") else { throw notJSON() }
      let key = try text()
      guard take(UInt8(ascii: ":")) else { throw notJSON() }
      members.append(ArchiveJSON.Member(key: key, value: try value(depth: depth + 1)))
      if take(UInt8(ascii: "}")) { return members }
      guard take(UInt8(ascii: ",")) else { throw notJSON() }
    }
  }

  private mutating func elements(depth: Int) throws(ArchiveFault) -> [ArchiveJSON] {
    var elements: [ArchiveJSON] = []
    position += 1
    if take(UInt8(ascii: "]")) { return elements }
    while true {
      elements.append(try value(depth: depth + 1))
      if take(UInt8(ascii: "]")) { return elements }
      guard take(UInt8(ascii: ",")) else { throw notJSON() }
    }
  }

  /// The spelling only; whoever wants a number of some kind checks it.
  private mutating func number() -> ArchiveJSON {
    let start = position
    while let byte = next,
      (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte)
    {
      position += 1
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func text() throws(ArchiveFault) -> String {
    var text: [UInt8] = []
    position += 1
    while true {
      let start = position
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
        position += 1
      }
      text += bytes[start..<position]
      switch next {
      case UInt8(ascii: "\""):
        position += 1
        guard let text = String(validating: text, as: UTF8.self) else {
          throw ArchiveFault("a text is no UTF-8")
        }
        return text
      case UInt8(ascii: "\\"):
        position += 1
        try escaped(&text)
      case nil: throw ArchiveFault("it ends within a text")
      default: throw notJSON()
      }
    }
  }

  private mutating func escaped(_ text: inout [UInt8]) throws(ArchiveFault) {
    guard let byte = next else { throw ArchiveFault("it ends within a text") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(byte)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      let end = position + 4
      guard end <= bytes.endIndex,
        bytes[position..<end].allSatisfy({ "0123456789abcdef".utf8.contains($0) }),
        let unit = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16),
        let scalar = Unicode.Scalar(unit)
      else { throw ArchiveFault("a character is spelt by a wrong number") }
      position = end
      text += String(scalar).utf8
    default: throw notJSON()
    }
  }
}
