import CloudProtocol
import Records
import SyncMachine

/// I15: each error has one outcome.
///
/// A change that failed for a reason that passes waits again by itself; one that failed for any
/// other reason is the app's and comes back only from there. The table is the contract as apps know
/// it, `CloudError.Code.isRetriedByEngine`, and not the engine's.
struct OutcomeChecker {
  private var records = Expectations<RecordID>()
  private var zones = Expectations<ZoneID>()

  /// The app is told what became of a batch; `state` is from the moment before it can do anything.
  mutating func note(told sent: SentRecords, with state: SyncState) {
    for result in sent.saved { records.note(result.id, result.error, state.records) }
    for result in sent.deleted { records.note(result.id, result.error, state.records) }
  }

  /// The same for zones.
  mutating func note(told sent: SentZones, with state: SyncState) {
    for result in sent.saved { zones.note(result.id, result.error, state.zones) }
    for result in sent.deleted { zones.note(result.id, result.error, state.zones) }
  }

  /// The app did something on the engine's state, which may give a change another end.
  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let change), .remove(let change): records.forget(change.id)
    case .addZone(let change), .removeZone(let change): zones.forget(change.id)
    case .noteUntracked: break
    }
  }

  /// The wrong outcomes, after the operation that reported them.
  mutating func faults(in state: SyncState) -> [String] {
    records.faults(in: state.records) { $0.path } + zones.faults(in: state.zones) { $0.name }
  }
}

/// The expected outcomes of failed changes of one kind.
private struct Expectations<ID: PendingKey & Comparable> {
  private var codes: [ID: CloudError.Code] = [:]

  mutating func forget(_ id: ID) { codes[id] = nil }

  mutating func note(_ id: ID, _ error: CloudError?, _ changes: PendingChanges<ID>) {
    codes[id] = nil
    guard let error else { return }
    // A newer change is there whatever becomes of this one; one that was taken back, or was never
    // listed, has no way back.
    if changes.pending(for: id) != nil { return }
    if error.code.isRetriedByEngine, changes.unsettledKind(of: id) == nil { return }
    codes[id] = error.code
  }

  mutating func faults(
    in changes: PendingChanges<ID>, name: (ID) -> String
  ) -> [String] {
    defer { codes = [:] }
    return codes.keys.sorted().compactMap { id in
      guard let code = codes[id] else { return nil }
      let isThere = changes.unsettledKind(of: id) != nil
      if isThere == code.isRetriedByEngine { return nil }
      return isThere
        ? "a change of \(name(id)) waits again after \(code), which the app was left to handle"
        : "a change of \(name(id)) is gone after \(code), which passes by itself"
    }
  }
}
