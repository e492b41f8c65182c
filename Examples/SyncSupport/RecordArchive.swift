public import CloudSync
public import Foundation

/// Records by their names, in memory and in one file.
///
/// A value; its owner guards it and decides when it is written. An archive of all fields keeps
/// records that this version of the app can't read: the server reports a change only once, so after
/// an update the app finds them here. An archive of system fields keeps above all the change tag,
/// without which every save of a known record would end in a conflict; losing it loses no data.
public struct RecordArchive: Sendable {
  /// The fields that an archive keeps of each record.
  public enum Content: String, Sendable {
    /// All fields.
    case allFields = "kept-records"
    /// The system fields, as `CKRecord.encodeSystemFields(with:)` writes them.
    case systemFields = "record-metadata"
  }

  private let document: DocumentFile<[String: Data]>
  private let content: Content
  private var entries: [String: Data]
  private var isWritten: Bool

  /// The file that was damaged and set aside when the archive was opened, if any.
  public let recovery: FileRecovery?

  /// Opens the archive at `url`; without a file it is empty.
  ///
  /// - Parameters:
  ///   - content: what is kept of each record; the format of the file.
  ///   - isRecovering: whether a damaged file is set aside; then the archive is empty. If it held
  ///     all fields, everything has to be fetched again.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  public init(
    _ url: URL, _ content: Content, recovering isRecovering: Bool = false
  ) throws(FileError) {
    document = DocumentFile(url, format: content.rawValue)
    self.content = content
    let reading = try document.read(recovering: isRecovering)
    entries = reading.body ?? [:]
    recovery = reading.recovery
    isWritten = recovery == nil
  }

  /// Whether there is no record.
  public var isEmpty: Bool { entries.isEmpty }

  /// The number of records.
  public var count: Int { entries.count }

  /// The records' names, sorted.
  public var names: [String] { entries.keys.sorted() }

  /// The records, in the order of their names.
  public var records: [CKRecord] { names.compactMap(record) }

  /// Whether there is a record with the name of `id`.
  public func contains(_ id: CKRecord.ID) -> Bool { entries[id.recordName] != nil }

  /// The record `id`, with the fields that are kept.
  public func record(_ id: CKRecord.ID) -> CKRecord? {
    record(named: id.recordName).flatMap { $0.recordID == id ? $0 : nil }
  }

  /// The record with this name, with the fields that are kept.
  public func record(named name: String) -> CKRecord? {
    entries[name].flatMap { CKRecord(archive: $0) }
  }

  /// Keeps a record, in the place of an older version; stored by ``write()``.
  public mutating func keep(_ record: CKRecord) {
    entries[record.recordID.recordName] = record.archive(content)
    isWritten = false
  }

  /// Removes the record with this name; without one this has no effect.
  public mutating func drop(_ name: String) {
    if entries.removeValue(forKey: name) != nil { isWritten = false }
  }

  /// Removes all records, on the disk too.
  ///
  /// - Throws: `FileError` when the file can't be removed; memory is empty all the same.
  public mutating func clear() throws(FileError) {
    entries = [:]
    isWritten = true
    try document.file.remove()
  }

  /// Makes the records durable, if they changed since the last call.
  ///
  /// - Throws: `FileError` when they can't be written; the next call tries again.
  public mutating func write() throws(FileError) {
    guard !isWritten else { return }
    try document.write(entries)
    isWritten = true
  }
}

extension CKRecord {
  /// The record's system fields, for a store to keep with an item.
  public var systemFields: Data { archive(.systemFields) }

  /// A record without fields that carries the tag last seen; a new one when nothing is known or
  /// what is known is of another record.
  public static func known(
    _ systemFields: Data?, id: CKRecord.ID, type: CKRecord.RecordType
  ) -> CKRecord {
    if let record = systemFields.flatMap({ CKRecord(archive: $0) }), record.recordID == id,
      record.recordType == type
    {
      return record
    }
    return CKRecord(recordType: type, recordID: id)
  }

  fileprivate func archive(_ content: RecordArchive.Content) -> Data {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    switch content {
    case .allFields: encode(with: encoder)
    case .systemFields: encodeSystemFields(with: encoder)
    }
    encoder.finishEncoding()
    return encoder.encodedData
  }

  fileprivate convenience init?(archive: Data) {
    guard let decoder = try? NSKeyedUnarchiver(forReadingFrom: archive) else { return nil }
    decoder.requiresSecureCoding = true
    defer { decoder.finishDecoding() }
    self.init(coder: decoder)
  }
}
