public import CloudSync
public import Foundation

/// What the cloud told about each record beside its fields: above all the change tag, without
/// which every save of a known record would end in a conflict.
///
/// Kept as `CKRecord.encodeSystemFields(with:)` writes it, one entry a record, in
/// `cloud-record-metadata.json`. Losing the file loses no data: saves conflict once and recover.
public struct SystemFieldsCache: Sendable {
  private var archive: RecordArchive

  /// What was set aside when the cache was opened, if anything.
  public var recovery: FileRecovery? { archive.recovery }

  /// Opens the cache at `url`.
  ///
  /// - Parameter isRecovering: whether a damaged file is set aside; then the cache is empty.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  public init(_ url: URL, recovering isRecovering: Bool = false) throws(FileError) {
    archive = try RecordArchive(url, format: "record-metadata", recovering: isRecovering)
  }

  /// Whether no record is known to the cloud.
  public var isEmpty: Bool { archive.count == 0 }

  /// How many records are known to the cloud.
  public var count: Int { archive.count }

  /// The names of the records that are known to the cloud, in an order every run repeats.
  public var names: [String] { archive.names }

  /// Whether the cloud told anything about the record `id`.
  public func knows(_ id: CKRecord.ID) -> Bool { archive.contains(id.recordName) }

  /// A record without fields that carries the tag last seen, or `nil` when there is none.
  public func record(_ id: CKRecord.ID) -> CKRecord? {
    guard let record = archive.record(named: id.recordName), record.recordID == id else {
      return nil
    }
    return record
  }

  /// Remembers `record`'s tag; takes effect on the disk with ``write()``.
  public mutating func remember(_ record: CKRecord) {
    archive.keep(record) { $0.encodeSystemFields(with: $1) }
  }

  /// Forgets what was known of the record with this name.
  public mutating func forget(_ recordName: String) { archive.drop(recordName) }

  /// Forgets everything, on the disk too.
  public mutating func clear() throws(FileError) { try archive.clear() }

  /// Writes down what changed since the last call.
  public mutating func write() throws(FileError) { try archive.write() }
}
