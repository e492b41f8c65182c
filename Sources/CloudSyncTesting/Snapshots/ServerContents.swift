public import CloudSync
public import LoopbackServer
import Records

/// The contents of a server for one account and container: its zones with their records, by name.
public struct ServerContents: Sendable, Snapshotable, CustomStringConvertible {
  /// The existing zones, including empty ones.
  public var zoneIDs: [CKRecordZone.ID]

  /// Deleted zones, with the reasons.
  public var deletions: [CKDatabase.DatabaseChange.Deletion]

  /// The records, by zone and name.
  public var records: [CKRecord]

  /// A line for each zone and record, and one for each field; without tags and dates.
  public var snapshotText: String {
    var lines: [String] = []
    for zone in zoneIDs {
      lines.append("zone \(CanonicalText.zone(zone))")
      for record in records where record.recordID.zoneID == zone {
        lines += CanonicalText.record(record.value, indent: "  ")
      }
    }
    lines += deletions.map { "gone \(CanonicalText.zone($0.zoneID)): \($0.reason)" }
    return lines.isEmpty ? "nothing" : lines.joined(separator: "\n")
  }

  /// The text of the snapshot.
  public var description: String { snapshotText }
}

extension LoopbackServer {
  /// The contents of the server for `account` in `container`, bypassing injected faults.
  ///
  /// - Throws: `unknownItem` when there is no such account.
  public func contents(of account: String, container: String) throws -> ServerContents {
    let zones = try zones(container: container, account: account)
    let records = try zones.flatMap {
      try self.records(in: $0, container: container, account: account)
    }
    return ServerContents(
      zoneIDs: zones.map { CKRecordZone.ID($0) },
      deletions: try deletedZones(container: container, account: account).map {
        CKDatabase.DatabaseChange.Deletion($0)
      },
      records: records.map { CKRecord.face(of: $0) })
  }
}

extension SimulatedCloud {
  /// The contents of the server for `account` in this cloud's container.
  ///
  /// - Throws: `unknownItem` when the account has never made a request.
  public func contents(of account: String = "alice") throws -> ServerContents {
    try server.contents(of: account, container: containerIdentifier)
  }
}
