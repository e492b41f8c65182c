import CloudProtocol
import Records
import SyncMachine

/// I3 and I4: follows every change from the moment it was added to its outcome, and demands that
/// the engine's list says the same.
///
/// Written from the contract, not from the machine: a change leaves the list when the app takes it
/// back, when the app is told that it was sent, or that it failed for good; nothing else ends it
/// but another account.
struct PendingLedger {
  private struct Item: Equatable {
    var waiting: ChangeKind?
    var underWay: ChangeKind?
    var mayReturn = false

    var unsettled: ChangeKind? { waiting ?? (mayReturn ? underWay : nil) }
  }

  private let layout: WorldLayout
  private var records: [Item]
  private var zones: [Item]

  init(layout: WorldLayout) {
    self.layout = layout
    records = Array(repeating: Item(), count: layout.records.count)
    zones = Array(repeating: Item(), count: layout.zones.count)
  }

  /// Begins anew with what a restored state holds.
  mutating func restart(with state: SyncState) {
    records = Array(repeating: Item(), count: layout.records.count)
    zones = Array(repeating: Item(), count: layout.zones.count)
    let spelling = state.spelling
    for change in state.records.waiting {
      if let place = layout.place(of: spelling.plain(change.id)) {
        records[place].waiting = change.kind
      }
    }
    for change in state.zones.waiting {
      if let zone = layout.number(of: spelling.plain(change.id)) {
        zones[zone].waiting = change.kind
      }
    }
  }

  /// What would be lost if the device went on from `state`; `nil` when nothing would.
  func loss(in state: SyncState) -> String? {
    if let loss = recordLoss(in: state) { return loss }
    let restored = restored(from: state)
    for zone in zones.indices {
      guard let kind = zones[zone].unsettled else { continue }
      if restored.zones[zone].waiting != kind {
        return "\(kind) of \(layout.zones[zone].name) was durable and is gone after a crash"
      }
    }
    return nil
  }

  private func restored(from state: SyncState) -> PendingLedger {
    var restored = PendingLedger(layout: layout)
    restored.restart(with: state)
    return restored
  }

  /// The same for records only.
  func recordLoss(in state: SyncState) -> String? {
    let restored = restored(from: state)
    for place in records.indices {
      guard let kind = records[place].unsettled else { continue }
      if restored.records[place].waiting != kind {
        return "\(kind) of \(layout.records[place].name) was durable and is gone after a crash"
      }
    }
    return nil
  }

  /// The engine forgets everything when the account changes.
  mutating func clear() { self = PendingLedger(layout: layout) }

  // MARK: What the app does

  mutating func note(_ call: AppCall) {
    switch call {
    case .add(let change):
      if let place = layout.place(of: change.id) { records[place].waiting = change.kind }
    case .remove(let change):
      if let place = layout.place(of: change.id) { Self.remove(change.kind, &records[place]) }
    case .addZone(let change):
      if let zone = layout.number(of: change.id) { zones[zone].waiting = change.kind }
    case .removeZone(let change):
      if let zone = layout.number(of: change.id) { Self.remove(change.kind, &zones[zone]) }
    case .noteUntracked: break
    }
  }

  /// Nobody knows whether this call came through: either is right.
  mutating func excuse(_ call: AppCall) {
    switch call {
    case .add(let change), .remove(let change):
      if let place = layout.place(of: change.id) { records[place] = Item() }
    case .addZone(let change), .removeZone(let change):
      if let zone = layout.number(of: change.id) { zones[zone] = Item() }
    case .noteUntracked: break
    }
  }

  private static func remove(_ kind: ChangeKind, _ item: inout Item) {
    if item.waiting == kind { item.waiting = nil }
    if item.underWay == kind { item.mayReturn = false }
  }

  // MARK: What the engine does

  /// The app gave this batch while these additions came in between: an addition after the batch
  /// was built is a newer wish, even when it says the same.
  mutating func note(given batch: RecordBatch, addedSince: Set<RecordID>) {
    for save in batch.saves { take(save.id, .save, addedSince) }
    for id in batch.deletions { take(id, .delete, addedSince) }
  }

  private mutating func take(_ id: RecordID, _ kind: ChangeKind, _ addedSince: Set<RecordID>) {
    guard let place = layout.place(of: id), records[place].underWay == nil,
      records[place].waiting == kind
    else { return }
    records[place].underWay = kind
    records[place].mayReturn = true
    if !addedSince.contains(id) { records[place].waiting = nil }
  }

  /// The engine sends these zones; additions that came after it took them are newer wishes.
  mutating func note(sending request: ModifyZones, addedSince: Set<ZoneID> = []) {
    for id in request.save { take(.save, zone: id, addedSince) }
    for id in request.delete { take(.delete, zone: id, addedSince) }
  }

  private mutating func take(_ kind: ChangeKind, zone id: ZoneID, _ addedSince: Set<ZoneID>) {
    guard let zone = layout.number(of: id), zones[zone].waiting == kind else { return }
    zones[zone] = Item(
      waiting: addedSince.contains(id) ? kind : nil, underWay: kind, mayReturn: true)
  }

  /// The app was told.
  mutating func note(told sent: SentRecords) {
    for result in sent.saved { settle(result.id, result.error) }
    for result in sent.deleted { settle(result.id, result.error) }
  }

  private mutating func settle(_ id: RecordID, _ error: CloudError?) {
    guard let place = layout.place(of: id) else { return }
    Self.settle(&records[place], error)
  }

  mutating func note(told sent: SentZones) {
    for result in sent.saved { settle(result.id, result.error) }
    for result in sent.deleted { settle(result.id, result.error) }
  }

  private mutating func settle(_ id: ZoneID, _ error: CloudError?) {
    guard let zone = layout.number(of: id) else { return }
    Self.settle(&zones[zone], error)
  }

  private static func settle(_ item: inout Item, _ error: CloudError?) {
    guard let kind = item.underWay else { return }
    let returns = item.mayReturn && (error?.code.isRetriedByEngine ?? false)
    if returns, item.waiting == nil { item.waiting = kind }
    item.underWay = nil
    item.mayReturn = false
  }

  /// A send ended: what nobody answered for waits again.
  mutating func noteEndOfSend() {
    for place in records.indices { Self.returnUnanswered(&records[place]) }
    for zone in zones.indices { Self.returnUnanswered(&zones[zone]) }
  }

  private static func returnUnanswered(_ item: inout Item) {
    guard let kind = item.underWay else { return }
    if item.mayReturn, item.waiting == nil { item.waiting = kind }
    item.underWay = nil
    item.mayReturn = false
  }

  // MARK: The comparison

  /// How `state` differs from what it should be; `nil` when it agrees.
  func difference(from state: SyncState) -> String? {
    recordDifference(from: state) ?? zoneDifference(from: state)
  }

  /// How the records of `state` differ from what they should be; `nil` when they agree.
  func recordDifference(from state: SyncState) -> String? {
    for place in records.indices {
      let id = layout.records[place]
      let seen = state.records.unsettledKind(of: id)
      if seen != records[place].unsettled {
        return "\(id.zone.name)/\(id.name): \(text(seen)), but \(text(records[place].unsettled)) "
          + "was neither sent, taken back nor reported"
      }
    }
    return nil
  }

  private func zoneDifference(from state: SyncState) -> String? {
    for zone in zones.indices {
      let seen = state.zones.unsettledKind(of: layout.zones[zone])
      if seen != zones[zone].unsettled {
        return "\(layout.zones[zone].name): \(text(seen)), but \(text(zones[zone].unsettled)) was "
          + "neither sent, taken back nor reported"
      }
    }
    return nil
  }

  /// Whether zone changes are in a request that nobody has heard of.
  var hasZonesUnderWay: Bool { zones.contains { $0.underWay != nil } }

  /// Whether nothing waits.
  var isEmpty: Bool {
    !records.contains { $0.unsettled != nil } && !zones.contains { $0.unsettled != nil }
  }

  private func text(_ kind: ChangeKind?) -> String {
    switch kind {
    case .save: "a save is pending"
    case .delete: "a deletion is pending"
    case nil: "nothing is pending"
    }
  }
}
