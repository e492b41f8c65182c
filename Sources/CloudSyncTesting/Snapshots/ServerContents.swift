import CloudProtocol
public import LoopbackServer
public import Records

/// What a server holds of one account in one container: its zones with their records, by name.
public struct ServerContents: Hashable, Sendable, Snapshotable {
  /// The zones that are there; one that holds nothing has no records.
  public var zones: [ZoneID]

  /// Zones that are gone, and why.
  public var deletedZones: [ZoneDeletion]

  /// The records, by zone and name.
  public var records: [Record]

  /// A line for each zone and record, and one for each field; without tags and dates.
  public var snapshotText: String {
    var lines: [String] = []
    for zone in zones {
      lines.append("zone \(CanonicalText.zone(zone))")
      for record in records where record.id.zone == zone {
        lines += CanonicalText.record(record, indent: "  ")
      }
    }
    lines += deletedZones.map { "gone \(CanonicalText.zone($0.zone)): \($0.reason)" }
    return lines.isEmpty ? "nothing" : lines.joined(separator: "\n")
  }
}

extension LoopbackServer {
  /// What the server holds of `account` in `container`, past all faults.
  ///
  /// - Throws: `unknownItem` when there is no such account.
  public func contents(of account: String, container: String) throws -> ServerContents {
    let zones = try zones(container: container, account: account)
    return ServerContents(
      zones: zones, deletedZones: try deletedZones(container: container, account: account),
      records: try zones.flatMap { try records(in: $0, container: container, account: account) })
  }
}

extension SimulatedCloud {
  /// What the server holds of `account` in this cloud's container.
  ///
  /// - Throws: `unknownItem` when nobody of this name ever asked.
  public func contents(of account: String = "alice") throws -> ServerContents {
    try server.contents(of: account, container: containerIdentifier)
  }
}
