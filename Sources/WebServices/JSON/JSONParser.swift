extension JSON {
  /// How deep lists and objects may be in each other.
  package static let depthLimit = 64

  /// Reads a text in UTF-8 that is one JSON value and nothing else.
  ///
  /// - Throws: where the text breaks RFC 8259, holds a number no `Double` can hold, half of a
  ///   surrogate pair, two members with one name, or goes deeper than `depthLimit`.
  package init(parsing bytes: [UInt8]) throws(JSONFault) {
    var parser = JSONParser(bytes)
    self = try parser.document()
  }

  /// The value that begins at `position` of a longer text, and where it ends; `nil` when there is
  /// none, or none that is taken.
  ///
  /// - Parameter depth: How many lists and objects are around it.
  static func value(
    in bytes: [UInt8], at position: Int, depth: Int
  ) -> (value: JSON, end: Int)? {
    var parser = JSONParser(bytes, at: position)
    guard let value = try? parser.value(depth: depth) else { return nil }
    return (value, parser.scanner.position)
  }
}

/// Reads JSON from bytes, strictly.
private struct JSONParser {
  private(set) var scanner: JSONScanner

  init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

  init(_ bytes: [UInt8], at position: Int) {
    scanner = JSONScanner(bytes)
    scanner.position = position
  }

  mutating func document() throws(JSONFault) -> JSON {
    scanner.skipSpace()
    let value = try value(depth: 0)
    scanner.skipSpace()
    guard scanner.position == scanner.bytes.count else {
      throw scanner.fault("something follows the value")
    }
    return value
  }

  mutating func value(depth: Int) throws(JSONFault) -> JSON {
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

  private mutating func array(depth: Int) throws(JSONFault) -> JSON {
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
      default: throw scanner.fault("a list goes on without a comma, or does not end")
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSON {
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
      default: throw scanner.fault("an object goes on without a comma, or does not end")
      }
    }
  }

  /// Looks at pairs where there are few, which costs less than a set.
  private static func namesDiffer(_ elements: [JSON.Members.Element]) -> Bool {
    if elements.count > 12 { return Set(elements.map(\.name)).count == elements.count }
    for index in elements.indices {
      for other in 0..<index where elements[other].name == elements[index].name { return false }
    }
    return true
  }
}
