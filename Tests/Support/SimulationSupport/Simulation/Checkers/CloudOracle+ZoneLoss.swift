import CloudProtocol
import Records

/// I21, on the server: a zone is reported as gone for the reason it is gone for, in the feed and in
/// the answers to those who write to it.
extension CloudOracle {
  /// A zone is made, or goes, or the server forgets why it went.
  struct ZoneEvent {
    var at: Int
    /// Why it is gone from here on; `nil` when it is there.
    var deletion: ZoneDeletionReason?
  }

  /// Whether the zone that a request reads is there.
  func isThere(zoneOf request: CloudRequest, account: Int?) -> Bool {
    guard case .fetchZoneChanges(let request) = request, let account else { return false }
    guard let zone = layout.number(of: request.zone) else {
      return isThere(visited: request.zone, account)
    }
    return databases[account - 1].zones[zone].isLive
  }

  /// What is wrong with telling an app that a zone is gone: it was gone, for that reason, at some
  /// time since `start`.
  func fault(telling deletion: ZoneDeletion, to account: Int, since start: Int) -> String? {
    guard let zone = layout.number(of: deletion.zone) else {
      if sharing != nil { return fault(telling: deletion, toParticipant: account, since: start) }
      return "\(deletion.zone.name) is told to be gone, which never was"
    }
    let turns = databases[account - 1].zoneHistories[zone]
    let before = turns.last { $0.at <= start }
    let reasons = [before?.deletion] + turns.filter { $0.at > start }.map(\.deletion)
    if reasons.contains(deletion.reason) { return nil }
    let truth = reasons.compactMap { $0 }.map { "\($0)" }.joined(separator: ", ")
    return "\(deletion.zone.name) is told to be gone: \(deletion.reason); in truth it is "
      + (truth.isEmpty ? "there" : "gone: \(truth)")
  }

  /// Checks what the server says of zones that it was asked for.
  func check(_ zones: [ZoneID], _ results: [ItemResult<ZoneID, Zone>], account: Int) {
    guard results.map(\.id) == zones else {
      return findings.report("I12", "a zone has no answer, or the answers are out of order")
    }
    for result in results {
      guard let zone = layout.number(of: result.id) else { continue }
      if let error = result.error {
        checkZoneError(error, zone, account)
      } else if !databases[account - 1].zones[zone].isLive {
        findings.report("I9", "\(result.id.name) is said to be there and is not")
      }
    }
  }

  func checkListing(_ deletion: ZoneDeletion, of zone: Int, account: Int) {
    let model = databases[account - 1].zones[zone]
    if model.isLive || model.deletion != deletion.reason {
      findings.report("I21", "\(deletion.zone.name) is said to be gone for another reason")
    }
  }

  func checkZoneError(_ error: CloudError, _ zone: Int, _ account: Int) {
    let model = databases[account - 1].zones[zone]
    switch error.code {
    case .zoneNotFound:
      if model.isLive || model.deletion == .purged {
        findings.report("I21", "\(layout.zones[zone].name) is said not to be there")
      }
      if error.userDidResetEncryptedData != (model.deletion == .encryptedDataReset) {
        findings.report("I21", "\(layout.zones[zone].name): a reset is reported wrongly")
      }
    case .userDeletedZone:
      if model.deletion != .purged || model.isLive {
        findings.report("I21", "\(layout.zones[zone].name) is said to be purged and is not")
      }
    default: break
    }
  }
}
