/// A value that is rarely there, kept outside of what holds it.
///
/// What has one stays small, and copying it costs one retain whatever the value holds.
package indirect enum Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
  /// There is none.
  case nothing
  /// There is one.
  case something(Value)

  /// Keeps `value`, if there is one.
  @inlinable package init(_ value: Value?) {
    if let value { self = .something(value) } else { self = .nothing }
  }

  /// What is kept, if anything.
  @inlinable package var value: Value? {
    if case .something(let value) = self { value } else { nil }
  }
}

extension Boxed: Codable where Value: Codable {
  /// Decodes the value itself; a member that is absent or `null` gives none.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self.init(container.decodeNil() ? nil : try container.decode(Value.self))
  }

  /// Encodes the value itself.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// Synthesized `Codable` conformances use these; they omit boxed members without a value.
extension KeyedEncodingContainer {
  /// Encodes the value under `key`, if there is one.
  package mutating func encode<Value: Codable>(_ box: Boxed<Value>, forKey key: Key) throws {
    try encodeIfPresent(box.value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes the value under `key`, if there is one.
  package func decode<Value: Codable>(
    _ type: Boxed<Value>.Type, forKey key: Key
  ) throws -> Boxed<Value> {
    Boxed(try decodeIfPresent(Value.self, forKey: key))
  }
}
