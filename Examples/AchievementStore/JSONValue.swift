import Foundation

/// Any piece of JSON, so that what a newer version of the app wrote is kept as it came.
public enum JSONValue: Hashable, Sendable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Members by name.
  case object([String: JSONValue])

  /// The bytes that stand for the value: same value, same bytes.
  var bytes: Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A number that JSON can't spell can't have come from JSON.
    return (try? encoder.encode(self)) ?? Data()
  }

  /// The one value that two devices agree on, whichever of them asks, in whatever order.
  ///
  /// Members of objects are united; of two different values the one with the greater bytes
  /// stays. An object begins with `{`, the greatest of all beginnings, so it beats all else; that
  /// is what makes the rule associative.
  func joined(with other: JSONValue) -> JSONValue {
    if self == other { return self }
    if case .object(let mine) = self, case .object(let theirs) = other {
      return .object(mine.merging(theirs) { $0.joined(with: $1) })
    }
    return bytes.lexicographicallyPrecedes(other.bytes) ? other : self
  }
}

extension JSONValue: Codable {
  /// Reads whatever is there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  /// Writes it back.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
