package import CloudProtocol
import Records
import SyncMachine

/// A fault built into a simulated world to show that the checkers detect it.
///
/// The state machines have no code for it: the world around them makes the mistake.
package enum PlantedBug: String, Hashable, Sendable, CaseIterable {
  /// A device forgets a change that failed because the service was unavailable.
  case dropOnServiceUnavailable
  /// A device stores the token of a page before the app has handled the page.
  case tokenBeforeDelivery
  /// A device adds the pending changes of the old account again after a switch.
  case keepPendingAfterSwitch
  /// The server accepts a save with an old change tag.
  case acceptStaleTag
  /// The server does not report deleted records.
  case forgetTombstone

  /// The request as a server with this fault reads it.
  package func altered(_ request: CloudRequest) -> CloudRequest {
    guard self == .acceptStaleTag, case .modifyRecords(var batch) = request else { return request }
    for index in batch.save.indices where batch.save[index].changeTag != nil {
      batch.save[index].policy = .changedKeys
    }
    return .modifyRecords(batch)
  }

  /// The reply that a server with this fault sends.
  package func altered(_ reply: CloudReply) -> CloudReply {
    guard self == .forgetTombstone, case .zoneChanges(var page) = reply else { return reply }
    page.deleted = []
    return .zoneChanges(page)
  }
}

/// The mistakes that a device with a planted fault makes.
struct DeviceFault {
  /// The planted fault; `nil` for a correct device.
  var bug: PlantedBug?
  /// The tokens of the pages that the app has not handled yet.
  private var earlyTokens: [StateChange] = []
  /// The changes that failed because the service was unavailable.
  private var forgotten: [PendingChange<RecordID>] = []

  init(bug: PlantedBug?) { self.bug = bug }

  /// Notes the page that a reply contains.
  mutating func note(arrived reply: CloudReply) {
    switch reply {
    case .zoneChanges(let page): earlyTokens = [.setZoneToken(page.zone, page.token)]
    case .databaseChanges(let page): earlyTokens = [.setDatabaseToken(page.token)]
    default: earlyTokens = []
    }
  }

  /// Notes which changes failed because the service was unavailable.
  mutating func note(sent: SentRecords) {
    for result in sent.saved where result.error?.code == .serviceUnavailable {
      forgotten.append(PendingChange(.save, result.id))
    }
    for result in sent.deleted where result.error?.code == .serviceUnavailable {
      forgotten.append(PendingChange(.delete, result.id))
    }
  }

  /// Notes that the app has handled the page.
  mutating func noteReturn() { earlyTokens = [] }

  /// The state that the device stores in place of `state`; `nil` for `state` itself.
  func stored(_ state: SyncState) -> SyncState? {
    guard bug == .tokenBeforeDelivery else { return nil }
    return earlyTokens.reduce(into: state) { $0.apply($1) }
  }

  /// The changes that the device forgets now.
  mutating func takeForgotten() -> [PendingChange<RecordID>] {
    defer { forgotten = [] }
    return bug == .dropOnServiceUnavailable ? forgotten : []
  }
}
