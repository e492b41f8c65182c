import CloudProtocol
import Records

/// I12: every member of a batch has an answer, in order, and an atomic batch is carried out as a
/// whole or not at all, zone by zone.
extension CloudOracle {
  /// Returns whether the answers fit the request.
  func checkCompleteness(
    _ request: ModifyRecords, _ saved: [ItemResult<RecordID, Record>],
    _ deleted: [ItemResult<RecordID, Done>]
  ) -> Bool {
    if saved.map(\.id) == request.save.map(\.id), deleted.map(\.id) == request.delete {
      return true
    }
    findings.report("I12", "an item has no answer, or the answers are out of order")
    return false
  }

  /// Returns whether the answers fit the request.
  func checkCompleteness(
    _ request: ModifyZones, _ saved: [ItemResult<ZoneID, Zone>],
    _ deleted: [ItemResult<ZoneID, Done>]
  ) -> Bool {
    if saved.map(\.id) == request.save, deleted.map(\.id) == request.delete { return true }
    findings.report("I12", "a zone has no answer, or the answers are out of order")
    return false
  }

  func checkAtomicity(
    _ saved: [ItemResult<RecordID, Record>], _ deleted: [ItemResult<RecordID, Done>]
  ) {
    var failed: [ZoneID] = []
    for result in saved where result.error != nil { failed.append(result.id.zone) }
    for result in deleted where result.error != nil { failed.append(result.id.zone) }
    let isTorn =
      saved.contains { $0.error == nil && failed.contains($0.id.zone) }
      || deleted.contains { $0.error == nil && failed.contains($0.id.zone) }
    if isTorn { findings.report("I12", "an atomic batch was carried out in part") }
  }
}
