package import Records

/// The key of a value in the index of a field: bytes whose order is that of the values.
///
/// A key begins with a byte for the kind of its value. If one value is before another in a sort,
/// its key is not after the other's; equal values have equal keys. Long texts and bytes are cut, so
/// two values may have the same key. Text whose canonical form is unknown has no place in the order
/// and gets the kind `unordered`: a reader of a range reads all of that kind, too.
///
/// Keys are stored in files: a change of their form needs a new layout.
package struct IndexKey: Hashable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]

  /// The maximum number of bytes.
  static let length = 120

  /// The first bytes of keys, in the order of `QueryValue.sortOrder(of:to:)`.
  enum Kind: UInt8 {
    case missing = 0
    case invalidNumber
    case number
    case invalidTime
    case time
    case text
    case bytes
    /// The name of a record; the zone of a reference is not in its key.
    case name
    case unordered
  }

  /// The key of `value`; `nil` is a missing value.
  init(_ value: QueryValue?) {
    var key = IndexKey.fullBytes(value)
    if key.count > IndexKey.length { key.removeSubrange(IndexKey.length...) }
    bytes = key
  }

  /// The key with these bytes, which a storage has stored.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The key of a record in the index of `field`; `nil` if `field` is not the name of a field.
  package init?(of field: String, in record: Record) {
    guard let field = try? QueryField(field) else { return nil }
    self.init(field.value(in: record).flatMap { QueryValue($0) })
  }

  /// Whether all values with this key are equal in a sort.
  var isExact: Bool {
    guard bytes.count < IndexKey.length, let kind = bytes.first.flatMap(Kind.init(rawValue:))
    else { return false }
    return kind.rawValue < Kind.name.rawValue
  }

  /// Whether this key is before `other`.
  func isBefore(_ other: IndexKey) -> Bool { bytes.lexicographicallyPrecedes(other.bytes) }

  private static func fullBytes(_ value: QueryValue?) -> [UInt8] {
    switch value {
    case nil: return [Kind.missing.rawValue]
    case .integer(let value): return key(value)
    case .number(let value):
      return value.isNaN ? [Kind.invalidNumber.rawValue] : key(.number, value) + [0, 0]
    case .time(let value): return value.isNaN ? [Kind.invalidTime.rawValue] : key(.time, value)
    case .text(let text): return key(.text, text)
    case .bytes(let bytes): return [Kind.bytes.rawValue] + bytes
    case .reference(let id): return key(.name, id.name)
    case .name(let name): return key(.name, name)
    }
  }

  /// The key of an integer, which is exact: the next floating-point number that is not above it,
  /// and the difference.
  private static func key(_ value: Int64) -> [UInt8] {
    var base = Double(value)
    if base >= 0x1p63 || Int64(base) > value { base = base.nextDown }
    let difference = UInt16(value - Int64(base))
    return key(.number, base) + [UInt8(difference >> 8), UInt8(difference & 0xff)]
  }

  private static func key(_ kind: Kind, _ value: Double) -> [UInt8] {
    // Adding zero makes a negative zero positive.
    let bits = (value + 0).bitPattern
    let ordered = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    return [kind.rawValue] + (0..<8).map { UInt8(truncatingIfNeeded: ordered >> (56 - 8 * $0)) }
  }

  private static func key(_ kind: Kind, _ text: String) -> [UInt8] {
    let kind = CanonicalText.isCanonical(text) ? kind : .unordered
    return [kind.rawValue] + text.utf8
  }
}
