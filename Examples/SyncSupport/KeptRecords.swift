public import CloudSync
public import Foundation

/// Records of the cloud that this version of the app can't read, whole, as they came.
///
/// A newer version on another device may write records of another type, or with fields of another
/// kind. They are not shown and never touched on the server. They are kept here because the cloud
/// tells of a change once: after an update, the app finds them here and shows them.
public struct KeptRecords: Sendable {
  private var archive: RecordArchive

  /// What was set aside when the records were opened, if anything.
  public var recovery: FileRecovery? { archive.recovery }

  /// Opens the records kept at `url`; without a file there are none.
  ///
  /// - Parameter isRecovering: whether a damaged file is set aside; then there are none, and the
  ///   cloud has to be read from its beginning to get them again.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  public init(_ url: URL, recovering isRecovering: Bool = false) throws(FileError) {
    archive = try RecordArchive(url, format: "kept-records", recovering: isRecovering)
  }

  /// The records' names, in an order every run repeats.
  public var names: [String] { archive.names }

  /// The records, in the order of their names.
  public var records: [CKRecord] { names.compactMap(record) }

  /// The record with a name; `nil` when there is none.
  public func record(named name: String) -> CKRecord? { archive.record(named: name) }

  /// Keeps a record, in the place of an older version of it.
  public mutating func keep(_ record: CKRecord) {
    archive.keep(record) { $0.encode(with: $1) }
  }

  /// Lets go of the record with a name; none is no error.
  public mutating func drop(_ name: String) { archive.drop(name) }

  /// Lets go of all, on the disk too.
  ///
  /// - Throws: `FileError` when the file can't be removed; memory is empty all the same.
  public mutating func clear() throws(FileError) { try archive.clear() }

  /// Makes the records durable; costs nothing when nothing changed.
  ///
  /// - Throws: `FileError` when they can't be written; the next call tries again.
  public mutating func write() throws(FileError) { try archive.write() }
}

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
