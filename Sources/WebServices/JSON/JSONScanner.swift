/// A JSON tokenizer.
///
/// It does not check the order of tokens, so it serves both the strict parser and the recovery of
/// damaged files.
package struct JSONScanner {
  /// The text, expected to be UTF-8.
  package let bytes: [UInt8]
  /// The offset of the next token in bytes.
  package var position: Int

  /// Starts at the beginning of the text, after a byte order mark if there is one.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  /// The error at the current position.
  package func fault(_ reason: String) -> JSONParsingError {
    JSONParsingError(reason: reason, offset: position)
  }

  /// The next byte; `nil` at the end.
  package var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Skips `byte` if it is the next byte; returns whether it is.
  package mutating func take(_ byte: UInt8) -> Bool {
    guard self.byte == byte else { return false }
    position += 1
    return true
  }

  /// Skips white space.
  package mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  /// Reads `true`, `false` or `null`.
  package mutating func word() throws(JSONParsingError) -> JSON {
    switch byte {
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    default: return try word("null", .null)
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONParsingError) -> JSON {
    let count = word.utf8CodeUnitCount
    guard bytes.count - position >= count,
      word.withUTF8Buffer({ bytes[position..<(position + count)].elementsEqual($0) })
    else { throw fault("no value begins so") }
    position += count
    return value
  }

  // MARK: Text

  /// Reads a string, starting at its opening quotation mark.
  package mutating func string() throws(JSONParsingError) -> String {
    position += 1
    let start = position
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return try valid(bytes[start..<position])
      case UInt8(ascii: "\\"):
        var content = Array(bytes[start..<position])
        try readText(into: &content)
        return try valid(content)
      case 0..<0x20: throw fault("a string contains a control character")
      default: position += 1
      }
    }
    throw fault("text does not end")
  }

  private func valid(_ bytes: some Collection<UInt8>) throws(JSONParsingError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw fault("text is not UTF-8")
    }
    return text
  }

  /// Reads the rest of a string, including its closing quotation mark.
  ///
  /// On error, `content` has the part before the error. Does not validate UTF-8.
  package mutating func readText(into content: inout [UInt8]) throws(JSONParsingError) {
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"):
        position += 1
        try content.append(contentsOf: escape())
      case 0..<0x20: throw fault("a string contains a control character")
      default:
        content.append(byte)
        position += 1
      }
    }
    throw fault("text does not end")
  }

  private mutating func escape() throws(JSONParsingError) -> [UInt8] {
    guard let byte else { throw fault("text does not end") }
    let meaning: UInt8
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): meaning = byte
    case UInt8(ascii: "b"): meaning = 0x08
    case UInt8(ascii: "f"): meaning = 0x0C
    case UInt8(ascii: "n"): meaning = 0x0A
    case UInt8(ascii: "r"): meaning = 0x0D
    case UInt8(ascii: "t"): meaning = 0x09
    case UInt8(ascii: "u"):
      position += 1
      return try codeUnits()
    default: throw fault("an escape sequence is unknown")
    }
    position += 1
    return [meaning]
  }

  /// Reads a character that is escaped as one or two UTF-16 code units.
  private mutating func codeUnits() throws(JSONParsingError) -> [UInt8] {
    let first = try codeUnit()
    guard (0xD800...0xDFFF).contains(first) else { return try encoded(first) }
    guard first < 0xDC00, bytes.count - position >= 2, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { throw fault("half of a surrogate pair is unpaired") }
    position += 2
    let second = try codeUnit()
    guard (0xDC00...0xDFFF).contains(second) else {
      throw fault("half of a surrogate pair is unpaired")
    }
    return try encoded(0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00)))
  }

  private mutating func codeUnit() throws(JSONParsingError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch byte {
      case .some(let byte) where (0x30...0x39).contains(byte): digit = byte - 0x30
      case .some(let byte) where (0x41...0x46).contains(byte): digit = byte - 0x37
      case .some(let byte) where (0x61...0x66).contains(byte): digit = byte - 0x57
      default: throw fault("an escape needs four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  private func encoded(_ value: UInt32) throws(JSONParsingError) -> [UInt8] {
    guard let scalar = Unicode.Scalar(value) else {
      throw fault("an escaped character does not exist")
    }
    return Array(String(scalar).utf8)
  }
}
