#if !canImport(Darwin)
  public import Foundation
  import Records

  /// Sorts records, dictionaries and plain values by a field, as Foundation's own descriptors
  /// cannot on Linux.
  package final class KeySortDescriptor: NSSortDescriptor {
    /// The field's name.
    package let fieldName: String?

    /// Sorts by the field `key`; by the objects themselves when it is `nil`.
    package init(fieldName: String?, ascending: Bool) {
      self.fieldName = fieldName
      super.init(keyPath: \String.count, ascending: ascending)
    }

    /// The order of two objects; values that can't be compared count as equal.
    package override func compare(_ first: Any, to second: Any) -> ComparisonResult {
      PredicateValue.order(first, second, by: fieldName, ascending: ascending)
    }

    /// The same field the other way round.
    package override var reversedSortDescriptor: Any {
      KeySortDescriptor(fieldName: fieldName, ascending: !ascending)
    }

    /// Returns the object itself, since it is immutable.
    package override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` sorts by the same field in the same direction.
    package override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? KeySortDescriptor else { return false }
      return other.fieldName == fieldName && other.ascending == ascending
    }

    /// The hash, consistent with `isEqual`.
    package override var hash: Int { fieldName.hashValue }
  }

  /// Gives `NSSortDescriptor` the initializers with the name of a field.
  ///
  /// Only initializers of a protocol can return an object of a subclass. The protocol is public
  /// because its initializers are; code outside this module has no use for it.
  public protocol _CKKeySortable {}

  extension NSSortDescriptor: _CKKeySortable {}

  extension _CKKeySortable where Self: NSSortDescriptor {
    /// Sorts by the field `key`, small values first when `ascending`.
    public init(key: String?, ascending: Bool) {
      guard let made = KeySortDescriptor(fieldName: key, ascending: ascending) as? Self else {
        preconditionFailure("\(Self.self) cannot be made from a key; use NSSortDescriptor.")
      }
      self = made
    }

    /// Sorts records by one of their dates; Foundation's own initialiser takes no optional values.
    public init(keyPath: KeyPath<CKRecord, Date?>, ascending: Bool) {
      let field: SystemField? =
        switch keyPath {
        case \CKRecord.creationDate: .created
        case \CKRecord.modificationDate: .modified
        default: nil
        }
      guard let field else {
        preconditionFailure("The key path names no field of a record; use init(key:ascending:).")
      }
      self.init(key: field.fieldName, ascending: ascending)
    }

    /// The name of the field it sorts by; `nil` when it sorts by something else.
    public var key: String? {
      switch self {
      case let descriptor as KeySortDescriptor: descriptor.fieldName
      case let descriptor as CKLocationSortDescriptor: descriptor.fieldName
      default: nil
      }
    }
  }
#endif
