public import Foundation
public import SyncedStore

extension CKRecord {
  /// The version of the data model the record was written with: its field `schemaVersion`, and 1
  /// for the records of all stores here, which have no such field.
  ///
  /// A store reads only the versions it knows; other records are kept and not shown.
  public var schemaVersion: Int64 {
    guard let value = object(forKey: "schemaVersion") else { return 1 }
    return value as? Int64 ?? .max
  }

  /// A field's value, `missing` when the record has no such field, and `nil` when the field is of
  /// another type than this version knows.
  public func value<Value>(_ key: String, missing: @autoclosure () -> Value) -> Value? {
    guard let object = object(forKey: key) else { return missing() }
    return object as? Value
  }

  /// When the cloud saw the record last: the stand-in for a date that is missing.
  ///
  /// The same on every device. The beginning of 2001 for a record that never was in the cloud.
  public var dateInCloud: Date {
    modificationDate ?? creationDate ?? Date(timeIntervalSinceReferenceDate: 0)
  }
}
