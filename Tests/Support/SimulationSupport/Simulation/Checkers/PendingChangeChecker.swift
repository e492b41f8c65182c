import CloudProtocol
import Records
import SyncMachine

/// I3 and I4: the expected pending changes of an engine, from their addition to their outcome.
///
/// Written from the contract, not from the machine: a change is removed when the app removes it, or
/// when the app is told that it was sent or failed permanently; otherwise only a change of account
/// removes it.
struct PendingChangeChecker {
  private struct Expected {
    var waiting: ChangeKind?
    var inFlight: ChangeKind?
    var mayReturn = false

    var unsettled: ChangeKind? { waiting ?? (mayReturn ? inFlight : nil) }

    /// Ends the request; the change is pending again if `returns` and no newer one is.
    mutating func end(returns: Bool) {
      guard let kind = inFlight else { return }
      if mayReturn, returns, waiting == nil { waiting = kind }
      inFlight = nil
      mayReturn = false
    }
  }

  private let records: [PendingItem]
  private let zones: [PendingItem]
  private var expected: [PendingItem: Expected] = [:]
  /// The zones with a change that failed in the send under way.
  private var failedZones: Set<PendingItem> = []

  init(layout: WorldLayout) {
    records = layout.records.map { .record($0) }
    zones = layout.zones.map { .zone($0) }
  }

  /// Starts over with the changes of a restored state.
  mutating func restart(with state: SyncState) {
    expected = [:]
    failedZones = []
    let spelling = state.spelling
    for change in state.records.pending {
      note(.add(change.kind, .record(spelling.plain(change.id))))
    }
    for change in state.zones.pending {
      note(.add(change.kind, .zone(spelling.plain(change.id))))
    }
  }

  /// The engine removes everything when the account changes.
  mutating func clear() { expected = [:] }

  // MARK: The app's calls

  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let kind, let item): expected[item, default: Expected()].waiting = kind
    case .remove(let kind, let item):
      if expected[item]?.waiting == kind { expected[item]?.waiting = nil }
      if expected[item]?.inFlight == kind { expected[item]?.mayReturn = false }
    case .noteUntracked: break
    }
  }

  /// It is unknown whether this call had an effect: both are allowed.
  mutating func excuse(_ call: AppCall) {
    if let item = call.item { expected[item] = nil }
  }

  // MARK: The engine's progress

  /// The app returned this batch.
  ///
  /// An addition after the batch was built is a newer change, also of the same kind.
  mutating func note(given batch: RecordBatch, addedSince: Set<PendingItem>) {
    let changes =
      batch.saves.map { (ChangeKind.save, PendingItem.record($0.id)) }
      + batch.deletions.map { (.delete, .record($0)) }
    for (kind, item) in changes where expected[item]?.inFlight == nil {
      take(kind, item, addedSince)
    }
  }

  /// The engine sends these zones; additions after it took them are newer changes.
  mutating func note(sending request: ModifyZones, addedSince: Set<PendingItem> = []) {
    for id in request.save { take(.save, .zone(id), addedSince) }
    for id in request.delete { take(.delete, .zone(id), addedSince) }
  }

  private mutating func take(
    _ kind: ChangeKind, _ item: PendingItem, _ addedSince: Set<PendingItem>
  ) {
    guard expected[item]?.waiting == kind else { return }
    expected[item] = Expected(
      waiting: addedSince.contains(item) ? kind : nil, inFlight: kind, mayReturn: true)
  }

  /// The app was told the outcome of changes.
  mutating func note(told outcomes: [ChangeOutcome]) {
    for (item, error) in outcomes {
      expected[item]?.end(returns: error?.code.isRetriedByEngine ?? false)
      if error != nil, case .zone = item { failedZones.insert(item) }
    }
  }

  /// I16: the fault in sending these zones; `nil` for none.
  func fault(sending request: ModifyZones) -> String? {
    let again = (request.save + request.delete).first { failedZones.contains(.zone($0)) }
    return again.map { "\($0.name) is sent again by the send in which it failed" }
  }

  /// A send ended: changes without an outcome are pending again.
  mutating func noteEndOfSend() {
    failedZones = []
    for item in expected.keys { expected[item]?.end(returns: true) }
  }

  /// Whether zone changes are in a request without an outcome.
  var hasZonesInFlight: Bool { zones.contains { expected[$0]?.inFlight != nil } }

  // MARK: The comparison

  /// The first change that is lost if the device continues from `state`.
  func loss(in state: SyncState) -> String? {
    var restored = self
    restored.restart(with: state)
    for item in records + zones {
      guard let kind = expected[item]?.unsettled, restored.expected[item]?.waiting != kind else {
        continue
      }
      return "\(kind) of \(item.name) was durable and is gone after a crash"
    }
    return nil
  }

  /// The first difference of `state` from the expected one.
  func difference(from state: SyncState) -> String? {
    difference(of: records, from: state) ?? difference(of: zones, from: state)
  }

  /// The first difference of the records of `state` from the expected ones.
  func recordDifference(from state: SyncState) -> String? {
    difference(of: records, from: state)
  }

  private func difference(of items: [PendingItem], from state: SyncState) -> String? {
    for item in items {
      let (seen, kind) = (state.unsettledKind(of: item), expected[item]?.unsettled)
      guard seen != kind else { continue }
      return "\(item.name): \(text(seen)), but \(text(kind)) was neither sent, removed nor reported"
    }
    return nil
  }

  private func text(_ kind: ChangeKind?) -> String {
    switch kind {
    case .save: "a save is pending"
    case .delete: "a deletion is pending"
    case nil: "nothing is pending"
    }
  }
}
