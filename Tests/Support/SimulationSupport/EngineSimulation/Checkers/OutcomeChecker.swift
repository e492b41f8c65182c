import CloudProtocol
import Records
import SyncMachine

/// I15: each error has one outcome.
///
/// A change that failed for a reason that passes waits again by itself; one that failed for any
/// other reason is the app's and comes back only from there. The table is the contract as apps know
/// it, `CloudError.Code.isRetriedByEngine`, and not the engine's.
struct OutcomeChecker {
  private var codes: [PendingItem: CloudError.Code] = [:]

  /// The app is told the outcome of changes; `state` is from the moment before it can do anything.
  mutating func note(told outcomes: [ChangeOutcome], with state: SyncState) {
    for (item, error) in outcomes {
      codes[item] = nil
      guard let error else { continue }
      // A newer change is there whatever becomes of this one; one that was taken back, or was never
      // listed, has no way back.
      if state.waitingKind(of: item) != nil { continue }
      if error.code.isRetriedByEngine, state.unsettledKind(of: item) == nil { continue }
      codes[item] = error.code
    }
  }

  /// The app did something on the engine's state, which may give a change another end.
  mutating func note(_ call: AppCall) {
    if let item = call.item { codes[item] = nil }
  }

  /// The wrong outcomes, after the operation that reported them.
  mutating func faults(in state: SyncState) -> [String] {
    defer { codes = [:] }
    return codes.sorted { $0.key < $1.key }.compactMap { item, code in
      let isThere = state.unsettledKind(of: item) != nil
      if isThere == code.isRetriedByEngine { return nil }
      return isThere
        ? "a change of \(item.name) waits again after \(code), which the app was left to handle"
        : "a change of \(item.name) is gone after \(code), which passes by itself"
    }
  }
}
