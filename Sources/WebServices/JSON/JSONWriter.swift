extension JSON {
  /// The value as UTF-8 text, without blanks, on one line.
  ///
  /// Parsing the text gives the same value, bit for bit. A number that is not finite has no JSON
  /// form and is written as `null`; callers avoid such numbers.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    write(to: &bytes)
    return bytes
  }

  /// The value as text.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The value as indented text.
  package var indented: String {
    var bytes: [UInt8] = []
    write(to: &bytes, indentation: 0)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the value as text.
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, element) in members.elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSON.write(element.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        element.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .integer, .number, .string: writeScalar(to: &bytes)
    }
  }

  private func writeScalar(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): JSON.write(value, to: &bytes)
    case .number(let value): JSON.write(value, to: &bytes)
    case .string(let value): JSON.write(value, to: &bytes)
    case .array, .object: break
    }
  }

  private func write(to bytes: inout [UInt8], indentation: Int) {
    func newLine(_ depth: Int) {
      bytes.append(0x0A)
      bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }
    switch self {
    case .array(let values) where !values.isEmpty:
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        newLine(indentation + 1)
        value.write(to: &bytes, indentation: indentation + 1)
      }
      newLine(indentation)
      bytes.append(UInt8(ascii: "]"))
    case .object(let members) where !members.elements.isEmpty:
      bytes.append(UInt8(ascii: "{"))
      for (index, element) in members.elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        newLine(indentation + 1)
        JSON.write(element.name, to: &bytes)
        bytes.append(contentsOf: ": ".utf8)
        element.value.write(to: &bytes, indentation: indentation + 1)
      }
      newLine(indentation)
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .integer, .number, .string, .array, .object: write(to: &bytes)
    }
  }

  /// Appends a string with quotation marks.
  static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      var index = 0
      while index < source.count {
        let plain = PlainText.count(in: source, from: index)
        if plain > 0 {
          bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[index..<(index + plain)]))
          index += plain
        }
        if index < source.count { writeCharacter(of: source, at: &index, to: &bytes) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends the character at `index`, escaped if necessary.
  private static func writeCharacter(
    of source: UnsafeBufferPointer<UInt8>, at index: inout Int, to bytes: inout [UInt8]
  ) {
    let byte = source[index]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0x0A: bytes.append(contentsOf: "\\n".utf8)
    case 0x09: bytes.append(contentsOf: "\\t".utf8)
    case 0..<0x20, 0x7F: escape(UInt16(byte), to: &bytes)
    case 0xC2 where source[index + 1] == 0x85:
      // Some readers treat these three as line ends.
      escape(0x85, to: &bytes)
      index += 1
    case 0xE2 where source[index + 1] == 0x80 && source[index + 2] & 0xFE == 0xA8:
      escape(0x2028 + UInt16(source[index + 2] & 1), to: &bytes)
      index += 2
    default: bytes.append(byte)
    }
    index += 1
  }

  private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
    let digits = String(unit, radix: 16)
    bytes.append(contentsOf: "\\u".utf8)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
    bytes.append(contentsOf: digits.utf8)
  }

  /// Appends an integer.
  static func write(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Appends a number; one that is not finite as `null`.
  static func write(_ value: Double, to bytes: inout [UInt8]) {
    var text = value.isFinite ? value.description : "null"
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  /// Appends a piece of JSON unchanged.
  static func write(raw piece: StaticString, to bytes: inout [UInt8]) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: piece.utf8Start, count: piece.utf8CodeUnitCount))
  }
}
