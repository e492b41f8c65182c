import CloudMachine
import CloudProtocol
import Records

let alice = DatabaseID(
  container: "c", environment: .development, scope: .private, owner: UserID("_alice"))
let bob = DatabaseID(
  container: "c", environment: .production, scope: .private, owner: UserID("_bob"))
let everyone = DatabaseID(
  container: "c", environment: .development, scope: .public, owner: nil)
let zoneA = ZoneID(name: "A")
let zoneB = ZoneID(name: "B")

func row(
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

func tombstone(_ name: String, _ sequence: UInt64, in zone: ZoneID = zoneA) -> RecordRow {
  RecordRow(
    id: RecordID(name: name, zone: zone), type: "T", record: nil, changedAt: sequence, device: nil)
}

/// A record that holds files.
func holder(_ name: String, _ sequence: UInt64, _ checksums: [String]) -> RecordRow {
  var row = row(name, sequence)
  let assets = checksums.map { FieldValue.asset(Asset(checksum: $0, size: 1)) }
  row.record?.fields["files"] = Field(.list(assets))
  return row
}

func upload(_ receipt: String, _ checksum: String, at time: Double) -> UploadRow {
  UploadRow(
    receipt: receipt, user: UserID("_alice"),
    recordType: RecordTypeID(container: "c", environment: .production, name: "T"), key: "k",
    checksum: checksum, size: 1, time: Timestamp(secondsSinceReferenceDate: time))
}

/// Everything that can be read from a storage about a few databases, in a comparable form.
func dump(_ storage: any CloudStorage, names: [String]) throws -> [String] {
  var lines: [String] = try storage.accounts().map { "\($0)" }
  for user in ["_alice", "_bob"] {
    lines.append("\(String(describing: try storage.account(UserID(user))))")
    lines.append("\(String(describing: try storage.account(named: user)))")
    for device in ["phone", "tablet"] {
      for name in names {
        let key = ReceiptKey(user: UserID(user), device: device, requestID: name)
        lines.append("\(String(describing: try storage.receipt(key)))")
      }
    }
  }
  for environment in CloudEnvironment.allCases {
    lines += try storage.recordTypes(of: "c", in: environment).map { "\($0)" }
    lines.append("\(String(describing: try storage.schema(of: "c", in: environment)))")
  }
  for name in names {
    lines.append("\(String(describing: try storage.upload(name)))")
    lines.append("\(name): \(String(describing: try storage.assetContent(name)))")
  }
  for time in [-1, 100, 1e9] {
    let time = Timestamp(secondsSinceReferenceDate: time)
    lines.append("\(try storage.uploads(through: time, limit: 5))")
  }
  for database in [alice, bob, everyone] {
    lines.append("\(try storage.subscriptionHomes(of: database))")
    for (zone, after) in [(zoneA, nil), (zoneA, "n3"), (zoneB, nil)] {
      lines += try storage.records(ofType: "T", in: zone, of: database, after: after, limit: 4)
        .map { "\($0)" }
    }
    lines.append("\(String(describing: try storage.database(database)))")
    lines += try storage.zones(in: database).map { "\($0)" }
    lines += try storage.subscriptions(in: database).map { "\($0)" }
    lines.append("\(String(describing: try storage.subscription(.init("n1"), in: database)))")
    for after: UInt64 in [0, 7, .max] {
      for limit in [0, 2, 100] {
        lines += try storage.zoneChanges(in: database, after: after, limit: limit).map { "\($0)" }
        for zone in [zoneA, zoneB] {
          lines += try storage.recordChanges(of: zone, in: database, after: after, limit: limit)
            .map { "\($0)" }
        }
      }
    }
    for zone in [zoneA, zoneB] {
      lines.append("\(String(describing: try storage.zone(zone, in: database)))")
      for name in names {
        let id = RecordID(name: name, zone: zone)
        lines.append("\(String(describing: try storage.record(id, in: database)))")
        lines.append("\(name) <- \(try storage.links(to: id, in: database))")
      }
    }
  }
  return lines
}
