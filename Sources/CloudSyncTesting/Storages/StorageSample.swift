package import CloudMachine
import Records

/// The rows with which storages are checked.
package enum StorageSample {
  /// A private database in development.
  package static let alice = DatabaseID(
    container: "c", environment: .development, scope: .private, owner: UserID("_alice"))
  /// A private database in production.
  package static let bob = DatabaseID(
    container: "c", environment: .production, scope: .private, owner: UserID("_bob"))
  /// The public database in development.
  package static let everyone = DatabaseID(
    container: "c", environment: .development, scope: .public, owner: nil)
  /// A zone of each database.
  package static let zoneA = ZoneID(name: "A")
  /// Another zone of each database.
  package static let zoneB = ZoneID(name: "B")

  /// The row of a record.
  package static func row(
    _ name: String, _ sequence: UInt64, in zone: ZoneID = zoneA, parent: String? = nil,
    owner: String? = nil, text: String = "text"
  ) -> RecordRow {
    var record = Record(
      id: RecordID(name: name, zone: zone), type: "T", changeTag: ChangeTag("\(sequence)"),
      fields: ["text": .string(text)])
    record.parent = parent.map { RecordID(name: $0, zone: zone) }
    if let owner {
      let reference = Reference(target: RecordID(name: owner, zone: zone), action: .deleteSelf)
      record.fields["owner"] = Field(.reference(reference))
      record.fields["owners"] = Field(.list([.reference(reference)]))
    }
    return RecordRow(
      id: record.id, type: "T", record: record, changedAt: sequence, device: "phone")
  }

  /// The tombstone of a record.
  package static func tombstone(_ name: String, _ sequence: UInt64, in zone: ZoneID = zoneA)
    -> RecordRow
  {
    RecordRow(
      id: RecordID(name: name, zone: zone), type: "T", record: nil, changedAt: sequence, device: nil
    )
  }

  /// The row of a record with files.
  package static func holder(_ name: String, _ sequence: UInt64, _ checksums: [String]) -> RecordRow
  {
    var row = row(name, sequence)
    let assets = checksums.map { FieldValue.asset(Asset(checksum: $0, size: 1)) }
    row.record?.fields["files"] = Field(.list(assets))
    return row
  }

  /// The row of an upload.
  package static func upload(_ receipt: String, _ checksum: String, at time: Double) -> UploadRow {
    UploadRow(
      receipt: receipt, user: UserID("_alice"),
      recordType: RecordTypeID(container: "c", environment: .production, name: "T"), key: "k",
      checksum: checksum, size: 1, time: Timestamp(secondsSinceReferenceDate: time))
  }
}

extension CloudStorage {
  /// Commits rows of records.
  func put(_ rows: RecordRow..., in database: DatabaseID = StorageSample.alice) throws {
    try commit(rows.map { .putRecord($0, in: database) })
  }
}
