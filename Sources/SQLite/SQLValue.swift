/// One value that a statement takes.
package enum SQLValue: Hashable, Sendable {
  /// No value.
  case null
  /// A whole number.
  case integer(Int64)
  /// Text, whose bytes arrive as they are.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// A whole number, or none.
  package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }

  /// Text, or none.
  package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }

  /// Bytes, or none.
  package static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}
