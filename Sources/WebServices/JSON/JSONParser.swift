extension JSON {
  /// The maximum nesting depth of lists and objects.
  package static let depthLimit = 64

  /// Parses UTF-8 text that is a single JSON value.
  ///
  /// - Throws: if the text violates RFC 8259, or contains a number out of range of `Double`, half
  ///   of a surrogate pair, duplicate member names, or nesting deeper than `depthLimit`.
  package init(parsing bytes: [UInt8]) throws(JSONParsingError) {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }

  /// The value that starts at `position` in a longer text, and its end; `nil` if there is no valid
  /// value.
  ///
  /// - Parameter depth: The number of enclosing lists and objects.
  static func value(
    in bytes: [UInt8], at position: Int, depth: Int
  ) -> (value: JSON, end: Int)? {
    var parser = JSONParser(bytes, at: position)
    guard let value = try? parser.value(depth: depth) else { return nil }
    return (value, parser.scanner.position)
  }
}

/// A strict JSON parser.
private struct JSONParser {
  private(set) var scanner: JSONScanner

  init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

  init(_ bytes: [UInt8], at position: Int) {
    scanner = JSONScanner(bytes)
    scanner.position = position
  }

  mutating func document() throws(JSONParsingError) -> JSON {
    scanner.skipSpace()
    let value = try value(depth: 0)
    scanner.skipSpace()
    guard scanner.position == scanner.bytes.count else {
      throw scanner.fault("something follows the value")
    }
    return value
  }

  mutating func value(depth: Int) throws(JSONParsingError) -> JSON {
    switch scanner.byte {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try scanner.string())
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return try scanner.word()
    case UInt8(ascii: "-"): return try scanner.number()
    case .some(let byte) where (0x30...0x39).contains(byte): return try scanner.number()
    case nil: throw scanner.fault("the text ends where a value belongs")
    default: throw scanner.fault("no value begins so")
    }
  }

  private mutating func array(depth: Int) throws(JSONParsingError) -> JSON {
    guard depth <= JSON.depthLimit else { throw scanner.fault("it is nested too deeply") }
    scanner.position += 1
    var values: [JSON] = []
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "]")) { return .array(values) }
    while true {
      scanner.skipSpace()
      values.append(try value(depth: depth))
      scanner.skipSpace()
      switch scanner.byte {
      case UInt8(ascii: ","): scanner.position += 1
      case UInt8(ascii: "]"):
        scanner.position += 1
        return .array(values)
      default: throw scanner.fault("a list has no comma or end after an element")
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONParsingError) -> JSON {
    guard depth <= JSON.depthLimit else { throw scanner.fault("it is nested too deeply") }
    scanner.position += 1
    var elements: [JSON.Members.Element] = []
    scanner.skipSpace()
    if scanner.take(UInt8(ascii: "}")) { return .object(JSON.Members()) }
    while true {
      scanner.skipSpace()
      guard scanner.byte == UInt8(ascii: "\"") else { throw scanner.fault("a member has no name") }
      let name = try scanner.string()
      scanner.skipSpace()
      guard scanner.take(UInt8(ascii: ":")) else { throw scanner.fault("a member has no colon") }
      scanner.skipSpace()
      elements.append(JSON.Members.Element(name: name, value: try value(depth: depth)))
      scanner.skipSpace()
      switch scanner.byte {
      case UInt8(ascii: ","): scanner.position += 1
      case UInt8(ascii: "}"):
        scanner.position += 1
        guard JSONParser.namesDiffer(elements) else {
          throw scanner.fault("an object has two members with one name")
        }
        return .object(JSON.Members(elements))
      default: throw scanner.fault("an object has no comma or end after a member")
      }
    }
  }

  /// Compares pairs if there are few, which is cheaper than a set.
  private static func namesDiffer(_ elements: [JSON.Members.Element]) -> Bool {
    if elements.count > 12 { return Set(elements.map(\.name)).count == elements.count }
    for index in elements.indices {
      for other in 0..<index where elements[other].name == elements[index].name { return false }
    }
    return true
  }
}
