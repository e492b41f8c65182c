public import CloudSync
public import Foundation

/// What the cloud told about each record beside its fields: above all the change tag, without
/// which every save of a known record would end in a conflict.
///
/// Kept as `CKRecord.encodeSystemFields(with:)` writes it, one entry a record, in
/// `cloud-record-metadata.json`. Losing the file loses no data: saves conflict once and recover.
public struct SystemFieldsCache: Sendable {
  private let document: DocumentFile<[String: Data]>
  private var entries: [String: Data]
  private var isWritten = true

  /// What was set aside when the cache was opened, if anything.
  public let recovery: FileRecovery?

  /// Opens the cache at `url`.
  ///
  /// - Parameter isRecovering: whether a damaged file is set aside; then the cache is empty.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  public init(_ url: URL, recovering isRecovering: Bool = false) throws(FileError) {
    document = DocumentFile(url, format: "record-metadata")
    let reading = try document.read(recovering: isRecovering)
    entries = reading.body ?? [:]
    recovery = reading.recovery
    isWritten = recovery == nil
  }

  /// Whether no record is known to the cloud.
  public var isEmpty: Bool { entries.isEmpty }

  /// How many records are known to the cloud.
  public var count: Int { entries.count }

  /// The names of the records that are known to the cloud, in an order every run repeats.
  public var names: [String] { entries.keys.sorted() }

  /// Whether the cloud told anything about the record `id`.
  public func knows(_ id: CKRecord.ID) -> Bool { entries[id.recordName] != nil }

  /// A record without fields that carries the tag last seen, or `nil` when there is none.
  public func record(_ id: CKRecord.ID) -> CKRecord? {
    guard let data = entries[id.recordName],
      let decoder = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    decoder.requiresSecureCoding = true
    defer { decoder.finishDecoding() }
    guard let record = CKRecord(coder: decoder), record.recordID == id else { return nil }
    return record
  }

  /// Remembers `record`'s tag; takes effect on the disk with ``write()``.
  public mutating func remember(_ record: CKRecord) {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: encoder)
    encoder.finishEncoding()
    entries[record.recordID.recordName] = encoder.encodedData
    isWritten = false
  }

  /// Forgets what was known of the record with this name.
  public mutating func forget(_ recordName: String) {
    if entries.removeValue(forKey: recordName) != nil { isWritten = false }
  }

  /// Forgets everything, on the disk too.
  public mutating func clear() throws(FileError) {
    entries = [:]
    isWritten = true
    try document.file.remove()
  }

  /// Writes down what changed since the last call.
  public mutating func write() throws(FileError) {
    guard !isWritten else { return }
    try document.write(entries)
    isWritten = true
  }
}
