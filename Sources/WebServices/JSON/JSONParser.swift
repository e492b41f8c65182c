extension JSON {
  /// How deep lists and objects may be in each other.
  package static let depthLimit = 64

  /// Reads a text in UTF-8 that is one JSON value and nothing else.
  ///
  /// - Throws: where the text breaks RFC 8259, holds a number no `Double` can hold, half of a
  ///   surrogate pair, two members with one name, or goes deeper than `depthLimit`.
  package init(parsing bytes: [UInt8]) throws(JSONFault) {
    var parser = JSONParser(bytes: bytes)
    self = try parser.document()
  }
}

/// Reads JSON from bytes, strictly.
private struct JSONParser {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  private func fault(_ reason: String) -> JSONFault {
    JSONFault(reason: reason, offset: position)
  }

  mutating func document() throws(JSONFault) -> JSON {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    skipSpace()
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw fault("something follows the value") }
    return value
  }

  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSON {
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"): return try number()
    case .some(let byte) where (0x30...0x39).contains(byte): return try number()
    case nil: throw fault("the text ends where a value belongs")
    default: throw fault("no value begins so")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONFault) -> JSON {
    let count = word.utf8CodeUnitCount
    guard bytes.count - position >= count,
      word.withUTF8Buffer({ bytes[position..<(position + count)].elementsEqual($0) })
    else { throw fault("no value begins so") }
    position += count
    return value
  }

  private mutating func array(depth: Int) throws(JSONFault) -> JSON {
    guard depth <= JSON.depthLimit else { throw fault("it is nested too deeply") }
    position += 1
    var values: [JSON] = []
    skipSpace()
    if byte == UInt8(ascii: "]") {
      position += 1
      return .array(values)
    }
    while true {
      skipSpace()
      values.append(try value(depth: depth))
      skipSpace()
      switch byte {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return .array(values)
      default: throw fault("a list goes on without a comma, or does not end")
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSON {
    guard depth <= JSON.depthLimit else { throw fault("it is nested too deeply") }
    position += 1
    var elements: [JSON.Members.Element] = []
    skipSpace()
    if byte == UInt8(ascii: "}") {
      position += 1
      return .object(JSON.Members())
    }
    while true {
      skipSpace()
      guard byte == UInt8(ascii: "\"") else { throw fault("a member has no name") }
      let name = try string()
      skipSpace()
      guard byte == UInt8(ascii: ":") else { throw fault("a member has no colon") }
      position += 1
      skipSpace()
      elements.append(JSON.Members.Element(name: name, value: try value(depth: depth)))
      skipSpace()
      switch byte {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        guard JSONParser.namesDiffer(elements) else {
          throw fault("an object has two members with one name")
        }
        return .object(JSON.Members(elements))
      default: throw fault("an object goes on without a comma, or does not end")
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

  // MARK: Text

  private mutating func string() throws(JSONFault) -> String {
    position += 1
    let start = position
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return try text(bytes[start..<position])
      case UInt8(ascii: "\\"): return try escapedString(from: start)
      case 0..<0x20: throw fault("a control character stands in text")
      default: position += 1
      }
    }
    throw fault("text does not end")
  }

  private func text(_ bytes: some Collection<UInt8>) throws(JSONFault) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw fault("text is not UTF-8")
    }
    return text
  }

  /// Reads on from the first escape of a text that began at `start`.
  private mutating func escapedString(from start: Int) throws(JSONFault) -> String {
    var collected = Array(bytes[start..<position])
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return try text(collected)
      case UInt8(ascii: "\\"):
        position += 1
        try collected.append(contentsOf: escape())
      case 0..<0x20: throw fault("a control character stands in text")
      default:
        collected.append(byte)
        position += 1
      }
    }
    throw fault("text does not end")
  }

  private mutating func escape() throws(JSONFault) -> [UInt8] {
    guard let byte else { throw fault("text does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"):
      let first = try codeUnit()
      guard (0xD800...0xDFFF).contains(first) else { return try encoded(first) }
      guard first < 0xDC00, bytes.count - position >= 2, bytes[position] == UInt8(ascii: "\\"),
        bytes[position + 1] == UInt8(ascii: "u")
      else { throw fault("half of a surrogate pair stands alone") }
      position += 2
      let second = try codeUnit()
      guard (0xDC00...0xDFFF).contains(second) else {
        throw fault("half of a surrogate pair stands alone")
      }
      return try encoded(0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00)))
    default: throw fault("there is no such escape")
    }
  }

  private mutating func codeUnit() throws(JSONFault) -> UInt32 {
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

  private func encoded(_ value: UInt32) throws(JSONFault) -> [UInt8] {
    guard let scalar = Unicode.Scalar(value) else { throw fault("there is no such character") }
    return Array(String(scalar).utf8)
  }

  // MARK: Numbers

  private mutating func number() throws(JSONFault) -> JSON {
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
    // Minus zero is no whole number: its sign would be lost.
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
