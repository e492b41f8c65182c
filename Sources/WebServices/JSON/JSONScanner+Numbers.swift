extension JSONScanner {
  /// Reads a number: an integer if it is written as one and fits.
  package mutating func number() throws(JSONParsingError) -> JSON {
    let start = position
    var isWhole = true
    if byte == UInt8(ascii: "-") { position += 1 }
    let first = byte
    let digits = skipDigits()
    guard digits > 0, first != UInt8(ascii: "0") || digits == 1 else {
      throw fault("a number has no digits, or a zero in front")
    }
    if byte == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      guard skipDigits() > 0 else { throw fault("a number ends with its point") }
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
      guard skipDigits() > 0 else { throw fault("a number has no exponent") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    // Negative zero is not an integer: its sign would be lost.
    if isWhole, text != "-0", let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else {
      position = start
      throw fault("a number is too large")
    }
    return .number(value)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte, (0x30...0x39).contains(byte) { position += 1 }
    return position - start
  }
}
