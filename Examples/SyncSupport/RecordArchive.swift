import CloudSync
import Foundation

/// Records as keyed archives, by their names, in memory and in one file.
struct RecordArchive: Sendable {
  private let document: DocumentFile<[String: Data]>
  private var entries: [String: Data]
  private var isWritten: Bool

  /// What was set aside when the archive was opened, if anything.
  let recovery: FileRecovery?

  /// Opens the archive at `url`; without a file it is empty.
  ///
  /// - Parameters:
  ///   - format: the format's name.
  ///   - isRecovering: whether a damaged file is set aside; then the archive is empty.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  init(_ url: URL, format: String, recovering isRecovering: Bool) throws(FileError) {
    document = DocumentFile(url, format: format)
    let reading = try document.read(recovering: isRecovering)
    entries = reading.body ?? [:]
    recovery = reading.recovery
    isWritten = recovery == nil
  }

  /// How many records there are.
  var count: Int { entries.count }

  /// The records' names, in an order every run repeats.
  var names: [String] { entries.keys.sorted() }

  /// Whether there is a record with this name.
  func contains(_ name: String) -> Bool { entries[name] != nil }

  /// The record with this name, as it was encoded.
  func record(named name: String) -> CKRecord? {
    guard let data = entries[name], let decoder = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    decoder.requiresSecureCoding = true
    defer { decoder.finishDecoding() }
    return CKRecord(coder: decoder)
  }

  /// Keeps what `encode` writes of a record, in the place of what was kept before.
  mutating func keep(_ record: CKRecord, encode: (CKRecord, NSCoder) -> Void) {
    let encoder = NSKeyedArchiver(requiringSecureCoding: true)
    encode(record, encoder)
    encoder.finishEncoding()
    entries[record.recordID.recordName] = encoder.encodedData
    isWritten = false
  }

  /// Lets go of the record with this name; none is no error.
  mutating func drop(_ name: String) {
    if entries.removeValue(forKey: name) != nil { isWritten = false }
  }

  /// Lets go of all, on the disk too.
  mutating func clear() throws(FileError) {
    entries = [:]
    isWritten = true
    try document.file.remove()
  }

  /// Writes down what changed since the last call.
  mutating func write() throws(FileError) {
    guard !isWritten else { return }
    try document.write(entries)
    isWritten = true
  }
}
