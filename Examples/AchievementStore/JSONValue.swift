import Foundation
import SyncSupport

/// Any JSON, so that what a newer version of the app wrote is kept as it came.
enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer that is greater than every `Int64`.
  case unsigned(UInt64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The member of an object; `nil` if it is missing or null.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self, let member = members[name], member != .null
    else { return nil }
    return member
  }

  /// The whole number; `nil` for any other value.
  var int: Int? {
    guard case .integer(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The text; `nil` for any other value.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The bytes that stand for the value: same value, same bytes.
  ///
  /// A number that JSON can't spell can't have come from JSON.
  var bytes: Data { (try? canonicalJSON) ?? Data() }

  /// The value that all devices agree on, in whatever order they merge.
  ///
  /// Members of objects are united; of two different values the one with the greater bytes stays.
  /// An object begins with `{`, the greatest first byte, so the rule is associative.
  func joined(with other: JSONValue) -> JSONValue {
    if self == other { return self }
    if case .object(let mine) = self, case .object(let theirs) = other {
      return .object(mine.merging(theirs) { $0.joined(with: $1) })
    }
    return bytes.lexicographicallyPrecedes(other.bytes) ? other : self
  }

  /// The value with the members of `other`, which replace those of the same name.
  func replacing(with other: JSONValue) -> JSONValue {
    guard case .object(let mine) = self, case .object(let theirs) = other else { return other }
    return .object(mine.merging(theirs) { $0.replacing(with: $1) })
  }
}

extension JSONValue: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    func value<Value: Decodable>(_ kind: (Value) -> JSONValue) -> JSONValue? {
      (try? container.decode(Value.self)).map(kind)
    }
    let found = container.decodeNil() ? .null : value(Self.bool) ?? value(Self.integer)
    self =
      try found ?? value(Self.unsigned) ?? value(Self.string) ?? value(Self.object)
      ?? value(Self.array) ?? .number(container.decode(Double.self))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
