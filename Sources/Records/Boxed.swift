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
    switch self {
    case .nothing: nil
    case .something(let value): value
    }
  }
}
