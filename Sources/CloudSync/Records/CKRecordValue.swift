public import Foundation

/// A type of the values of fields.
///
/// A marker: the types below conform, and no others can be stored. See CS-8.
public protocol CKRecordValueProtocol {}

/// The name under which apps cast a value before they store it, as in `text as CKRecordValue`.
public typealias CKRecordValue = CKRecordValueProtocol

/// The name that the interface of CloudKit gives the same protocol.
public typealias __CKRecordObjCValue = CKRecordValueProtocol

/// Reads and writes fields by name: a record, a share, or a record's encrypted values.
///
/// A value of a type that cannot be stored, or a name that breaks the grammar of names, stops
/// the process, as it does with CloudKit. See CS-10.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
  /// The value called `key`; `nil` if there is none.
  func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)?

  /// Sets the value called `key`, or removes it with `nil`.
  func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey)

  /// The value called `key`; assigning `nil` removes it.
  subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? { get set }

  /// The names of the values, ascending.
  func allKeys() -> [CKRecord.FieldKey]

  /// The names of the values changed since the record was fetched or saved, ascending.
  func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
  /// The value called `key` as the type asked for; `nil` when it is another type.
  public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
    get { object(forKey: key) as? T }
    set { setObject(newValue, forKey: key) }
  }
}
