import Foundation
import WebServices

/// The members of a JSON object during decoding; each must be read exactly once.
struct ArchiveObject {
  private var members: [JSON.Members.Element]
  private var isTaken: [Bool]

  private init(_ json: JSON, _ name: String) throws {
    guard case .object(let members) = json else { throw ArchiveError("'\(name)' is not an object") }
    self.members = members.elements
    isTaken = Array(repeating: false, count: self.members.count)
  }

  /// Decodes the members of `json` with `body`; a member that `body` does not read is an error.
  static func read<Value>(
    _ json: JSON, _ name: String, _ body: (inout ArchiveObject) throws -> Value
  ) throws -> Value {
    var object = try ArchiveObject(json, name)
    let value = try body(&object)
    guard object.isTaken.allSatisfy({ $0 }) else {
      throw ArchiveError("'\(name)' has a member that is unknown or occurs twice")
    }
    return value
  }

  /// Whether there is a member called `key`.
  func has(_ key: String) -> Bool { members.contains { $0.name == key } }

  /// Removes and returns the member called `key`; `nil` if there is none.
  mutating func json(_ key: String) -> JSON? {
    guard let index = members.indices.first(where: { members[$0].name == key && !isTaken[$0] })
    else { return nil }
    isTaken[index] = true
    return members[index].value
  }

  /// All members that were not read yet.
  mutating func rest() -> [JSON.Members.Element] {
    defer { isTaken = Array(repeating: true, count: members.count) }
    return members.indices.filter { !isTaken[$0] }.map { members[$0] }
  }

  /// Unwraps a required member.
  func need<Value>(_ value: Value?, _ key: String) throws -> Value {
    guard let value else { throw ArchiveError("'\(key)' is missing") }
    return value
  }

  mutating func optionalText(_ key: String) throws -> String? {
    guard let json = json(key) else { return nil }
    return try json.text(key)
  }

  mutating func text(_ key: String) throws -> String { try need(optionalText(key), key) }

  /// A flag that is omitted when false.
  mutating func flag(_ key: String) throws -> Bool {
    switch json(key) {
    case .bool(let flag)?: return flag
    case nil: return false
    case .null?, .integer?, .number?, .string?, .array?, .object?:
      throw ArchiveError("'\(key)' is not true or false")
    }
  }

  /// A sequence number or incarnation, small enough to be incremented.
  mutating func sequence(_ key: String) throws -> UInt64 {
    try ArchiveObject.inRange(need(json(key), key).integer(key), key)
  }

  mutating func optionalSequence(_ key: String) throws -> UInt64? {
    guard let json = json(key) else { return nil }
    return try ArchiveObject.inRange(json.integer(key), key)
  }

  /// A count of items or bytes.
  mutating func count(_ key: String) throws -> Int {
    Int(try ArchiveObject.inRange(need(json(key), key).integer(key), key))
  }

  /// A count of items; 0 when omitted.
  mutating func optionalCount(_ key: String) throws -> Int {
    guard let json = json(key) else { return 0 }
    return Int(try ArchiveObject.inRange(json.integer(key), key))
  }

  private static func inRange(_ value: UInt64, _ key: String) throws -> UInt64 {
    guard value <= 1 << 62 else { throw ArchiveError("'\(key)' is too large") }
    return value
  }

  mutating func bytes(_ key: String) throws -> [UInt8] { try need(json(key), key).bytes(key) }

  mutating func double(_ key: String) throws -> Double { try need(json(key), key).double(key) }

  /// The elements of a list, which is omitted when empty.
  mutating func list<Value>(
    _ key: String, _ body: (JSON) throws -> Value
  ) throws -> [Value] {
    switch json(key) {
    case .array(let elements)?: return try elements.map(body)
    case nil: return []
    case .null?, .bool?, .integer?, .number?, .string?, .object?:
      throw ArchiveError("'\(key)' is not a list")
    }
  }

  mutating func texts(_ key: String) throws -> [String] { try list(key) { try $0.text(key) } }

  mutating func optionalObject<Value>(
    _ key: String, _ body: (inout ArchiveObject) throws -> Value
  ) throws -> Value? {
    guard let json = json(key) else { return nil }
    return try ArchiveObject.read(json, key, body)
  }

  mutating func object<Value>(
    _ key: String, _ body: (inout ArchiveObject) throws -> Value
  ) throws -> Value { try need(optionalObject(key, body), key) }

  /// An enum case by its name; `nil` when omitted.
  mutating func optionalCase<Value: CaseIterable>(_ key: String, _: Value.Type) throws -> Value? {
    guard let json = json(key) else { return nil }
    return try json.caseNamed(key)
  }

  mutating func caseNamed<Value: CaseIterable>(_ key: String, _ type: Value.Type) throws -> Value {
    try need(optionalCase(key, type), key)
  }
}

extension JSON {
  func text(_ name: String) throws -> String {
    guard case .string(let text) = self else { throw ArchiveError("'\(name)' is not a string") }
    return text
  }

  /// An integer in the range of the type, written as an integer.
  func integer<Value: FixedWidthInteger>(_ name: String) throws -> Value {
    guard case .integer(let number) = self, let value = Value(exactly: number) else {
      throw ArchiveError("'\(name)' is not an integer, or is too large")
    }
    return value
  }

  func double(_ name: String) throws -> Double {
    switch self {
    case .integer(let value): return Double(value)
    case .number(let value): return value
    case .string(let text) where text.hasPrefix("bits:"):
      if let bits = UInt64(text.dropFirst(5), radix: 16) { return Double(bitPattern: bits) }
    case .null, .bool, .string, .array, .object: break
    }
    throw ArchiveError("'\(name)' is not a number")
  }

  func bytes(_ name: String) throws -> [UInt8] {
    let text = try text(name)
    // Accept only the canonical base64 encoding.
    guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
      throw ArchiveError("'\(name)' is not base64")
    }
    return Array(data)
  }

  func caseNamed<Value: CaseIterable>(_ name: String) throws -> Value {
    let text = try text(name)
    guard let value = Value.allCases.first(where: { "\($0)" == text }) else {
      throw ArchiveError("'\(name)' has an unknown value")
    }
    return value
  }

  /// An enum case, written as its name.
  static func word(_ value: some CaseIterable) -> JSON { .string("\(value)") }
}
