/// A parameter value of a statement.
package enum SQLValue: Hashable, Sendable {
  /// `NULL`.
  case null
  /// An integer.
  case integer(Int64)
  /// Text, stored byte for byte.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// An integer, or `NULL`.
  package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }

  /// Text, or `NULL`.
  package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }

  /// Bytes, or `NULL`.
  package static func blob(_ value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
}
