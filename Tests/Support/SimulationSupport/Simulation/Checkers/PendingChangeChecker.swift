import CloudProtocol
import Records
import SyncMachine

/// I3 and I4: the expected pending changes of an engine, from their addition to their outcome.
///
/// Written from the contract, not from the machine: a change is removed when the app removes it, or
/// when the app is told that it was sent or failed permanently; otherwise only a change of account
/// removes it.
struct PendingChangeChecker {
  private let layout: WorldLayout
  private var records: ExpectedChanges<RecordID>
  private var zones: ExpectedChanges<ZoneID>

  init(layout: WorldLayout) {
    self.layout = layout
    records = ExpectedChanges(
      layout.records, index: { layout.place(of: $0) }, name: { $0.path })
    zones = ExpectedChanges(layout.zones, index: { layout.number(of: $0) }, name: { $0.name })
  }

  /// Starts over with the changes of a restored state.
  mutating func restart(with state: SyncState) {
    let spelling = state.spelling
    records.restart(with: state.records) { spelling.plain($0) }
    zones.restart(with: state.zones) { spelling.plain($0) }
  }

  /// The first change that is lost if the device continues from `state`.
  func loss(in state: SyncState) -> String? {
    var restored = PendingChangeChecker(layout: layout)
    restored.restart(with: state)
    return records.loss(in: restored.records) ?? zones.loss(in: restored.zones)
  }

  /// The engine removes everything when the account changes.
  mutating func clear() { self = PendingChangeChecker(layout: layout) }

  // MARK: The app's calls

  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let change): records.add(change)
    case .remove(let change): records.remove(change)
    case .addZone(let change): zones.add(change)
    case .removeZone(let change): zones.remove(change)
    case .noteUntracked: break
    }
  }

  /// It is unknown whether this call had an effect: both are allowed.
  mutating func excuse(_ call: AppCall) {
    switch call {
    case .add(let change), .remove(let change): records.forget(change.id)
    case .addZone(let change), .removeZone(let change): zones.forget(change.id)
    case .noteUntracked: break
    }
  }

  // MARK: The engine's progress

  /// The app returned this batch.
  ///
  /// An addition after the batch was built is a newer change, also of the same kind.
  mutating func note(given batch: RecordBatch, addedSince: Set<RecordID>) {
    for id in batch.saves.map(\.id) where !records.isInFlight(id) {
      records.take(.save, id, addedSince)
    }
    for id in batch.deletions where !records.isInFlight(id) {
      records.take(.delete, id, addedSince)
    }
  }

  /// The engine sends these zones; additions after it took them are newer changes.
  mutating func note(sending request: ModifyZones, addedSince: Set<ZoneID> = []) {
    for id in request.save { zones.take(.save, id, addedSince) }
    for id in request.delete { zones.take(.delete, id, addedSince) }
  }

  /// The app was told the outcome of a batch.
  mutating func note(told sent: SentRecords) {
    for result in sent.saved { records.settle(result.id, result.error) }
    for result in sent.deleted { records.settle(result.id, result.error) }
  }

  /// The app was told the outcome of zone changes.
  mutating func note(told sent: SentZones) {
    for result in sent.saved { zones.settle(result.id, result.error) }
    for result in sent.deleted { zones.settle(result.id, result.error) }
  }

  /// A send ended: changes without an outcome are pending again.
  mutating func noteEndOfSend() {
    records.returnUnanswered()
    zones.returnUnanswered()
  }

  /// Whether zone changes are in a request without an outcome.
  var hasZonesInFlight: Bool { zones.hasItemsInFlight }

  // MARK: The comparison

  /// The first difference of `state` from the expected one.
  func difference(from state: SyncState) -> String? {
    recordDifference(from: state) ?? zones.difference(from: state.zones)
  }

  /// The first difference of the records of `state` from the expected ones.
  func recordDifference(from state: SyncState) -> String? {
    records.difference(from: state.records)
  }
}

/// The expected changes of all IDs of one kind.
private struct ExpectedChanges<ID: PendingKey & Sendable>: Sendable {
  private struct Item {
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

  private let ids: [ID]
  private let index: @Sendable (ID) -> Int?
  private let name: @Sendable (ID) -> String
  private var items: [Item]

  init(
    _ ids: [ID], index: @escaping @Sendable (ID) -> Int?, name: @escaping @Sendable (ID) -> String
  ) {
    self.ids = ids
    self.index = index
    self.name = name
    items = ids.map { _ in Item() }
  }

  mutating func restart(with changes: PendingChanges<ID>, plain: (ID) -> ID) {
    items = ids.map { _ in Item() }
    for change in changes.pending { add(PendingChange(change.kind, plain(change.id))) }
  }

  mutating func add(_ change: PendingChange<ID>) {
    if let index = index(change.id) { items[index].waiting = change.kind }
  }

  mutating func remove(_ change: PendingChange<ID>) {
    guard let index = index(change.id) else { return }
    if items[index].waiting == change.kind { items[index].waiting = nil }
    if items[index].inFlight == change.kind { items[index].mayReturn = false }
  }

  mutating func forget(_ id: ID) {
    if let index = index(id) { items[index] = Item() }
  }

  func isInFlight(_ id: ID) -> Bool { index(id).map { items[$0].inFlight != nil } ?? false }

  var hasItemsInFlight: Bool { items.contains { $0.inFlight != nil } }

  mutating func take(_ kind: ChangeKind, _ id: ID, _ addedSince: Set<ID>) {
    guard let index = index(id), items[index].waiting == kind else { return }
    items[index] = Item(
      waiting: addedSince.contains(id) ? kind : nil, inFlight: kind, mayReturn: true)
  }

  mutating func settle(_ id: ID, _ error: CloudError?) {
    if let index = index(id) { items[index].end(returns: error?.code.isRetriedByEngine ?? false) }
  }

  mutating func returnUnanswered() {
    for index in items.indices { items[index].end(returns: true) }
  }

  func loss(in restored: Self) -> String? {
    for (index, item) in items.enumerated() {
      guard let kind = item.unsettled, restored.items[index].waiting != kind else { continue }
      return "\(kind) of \(name(ids[index])) was durable and is gone after a crash"
    }
    return nil
  }

  func difference(from changes: PendingChanges<ID>) -> String? {
    for (id, item) in zip(ids, items) {
      let seen = changes.unsettledKind(of: id)
      guard seen != item.unsettled else { continue }
      return "\(name(id)): \(text(seen)), but \(text(item.unsettled)) was neither sent, removed "
        + "nor reported"
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
