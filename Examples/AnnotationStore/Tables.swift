import Foundation
import SyncSupport

/// Everything a store keeps, in memory, and what a transaction under way has touched of it.
///
/// Changes take effect at once and are undone when the disk refuses them. Nothing is copied as a
/// whole, so a change costs its own size.
struct Tables {
  private(set) var items: [UUID: StoredItem] = [:]
  private(set) var queue = OfflineQueue()
  private(set) var zones: [String: ZoneState] = [:]
  private(set) var shares: [String: ShareState] = [:]
  private(set) var settings = StoreSettings()

  /// Children whose parent is not here.
  private(set) var holding = OrphanHolding<UUID>()
  /// The children of each parent, whether that is here or not.
  private var children: [UUID: Set<UUID>] = [:]

  private var undo = Undo()

  private struct Undo {
    var items: [UUID: (item: StoredItem?, entry: OfflineQueue.Entry?)] = [:]
    var order: [UUID] = []
    /// Children whose parent came with this transaction.
    var released: [UUID] = []
    var zones: [String: ZoneState?] = [:]
    var shares: [String: ShareState?] = [:]
    var settings: StoreSettings?
  }

  // MARK: Reading

  /// The item called `id`, if it is of that kind and makes sense.
  func item(_ id: UUID, _ kind: ItemKind) -> StoredItem? {
    guard let item = items[id], item.kind == kind, !item.isPurged else { return nil }
    return item
  }

  /// The children of an item, in the order of their IDs.
  func childIDs(of id: UUID) -> [UUID] {
    (children[id] ?? []).sorted { $0.uuidString < $1.uuidString }
  }

  /// Whether people see the item: it is not in the trash, and neither is what it hangs under.
  func isShown(_ item: StoredItem) -> Bool {
    guard !item.isPurged, !item.fields.isDeleted, item.isReadable else { return false }
    guard item.kind.parentField != nil else { return true }
    guard let parent = item.parent.flatMap({ items[$0] }), parent.owner == item.owner else {
      return false
    }
    return isShown(parent)
  }

  /// The layer an item is on or is; `nil` when that is not here.
  func layer(of item: StoredItem) -> StoredItem? {
    if item.kind == .layer { return item }
    return item.parent.flatMap { items[$0] }.flatMap { $0.kind == .comment ? nil : layer(of: $0) }
  }

  /// The share an item is in; `nil` when it is in none that is known.
  func share(of item: StoredItem) -> ShareState? {
    guard let layer = layer(of: item), let name = layer.cloud?.share else { return nil }
    return shares[ShareState.key(name, owner: layer.owner)]
  }

  // MARK: Changing

  /// Puts an item in, with the duty to send it or without.
  mutating func put(_ item: StoredItem, waits: OfflineQueue.Change?) {
    touch(item.id)
    if let waits {
      if queue[item.id]?.change != waits { queue.put(waits, item.id) }
    } else {
      queue.drop(item.id)
    }
    place(item)
  }

  /// Puts an item in that a person just changed: what is under way of it does not count any more.
  mutating func putEdited(_ item: StoredItem, _ change: OfflineQueue.Change = .save) {
    touch(item.id)
    queue.put(change, item.id)
    place(item)
  }

  /// Puts an item in and leaves what waits as it is.
  mutating func replace(_ item: StoredItem) {
    touch(item.id)
    place(item)
  }

  /// Takes a change out that the cloud confirmed, unless a later one took its place.
  mutating func settle(_ id: UUID, number: UInt64) -> Bool {
    touch(id)
    return queue.settle(id, number: number)
  }

  /// Takes an item out.
  mutating func remove(_ id: UUID) {
    touch(id)
    queue.drop(id)
    unplace(id)
  }

  mutating func setZone(_ key: String, _ zone: ZoneState?) {
    guard zones[key] != zone else { return }
    if undo.zones[key] == nil { undo.zones[key] = .some(zones[key]) }
    zones[key] = zone
  }

  mutating func setShare(_ key: String, _ share: ShareState?) {
    guard shares[key] != share else { return }
    if undo.shares[key] == nil { undo.shares[key] = .some(shares[key]) }
    shares[key] = share
  }

  mutating func changeSettings(_ body: (inout StoreSettings) -> Void) {
    var changed = settings
    body(&changed)
    guard changed != settings else { return }
    if undo.settings == nil { undo.settings = settings }
    settings = changed
  }

  // MARK: Transactions

  /// What was touched since the last transaction ended, as it is now.
  func touched() -> [StoreChange] {
    var changes: [StoreChange] = []
    for id in undo.order {
      guard let before = undo.items[id] else { continue }
      guard let item = items[id] else {
        if before.item != nil { changes.append(.removed(id)) }
        continue
      }
      if before.item != item || before.entry != queue[id] {
        changes.append(.item(item, queue[id]))
      }
    }
    for key in undo.zones.keys.sorted() { changes.append(.zone(key, zones[key])) }
    for key in undo.shares.keys.sorted() { changes.append(.share(key, shares[key])) }
    if undo.settings != nil { changes.append(.settings(settings)) }
    return changes
  }

  /// The items touched since the last transaction ended, and those that waited for one of them.
  var touchedItems: [UUID] { undo.order + undo.released }

  /// Ends a transaction: its changes stay.
  mutating func keep() { undo = Undo() }

  /// Ends a transaction: everything is as it was before.
  mutating func rollBack() {
    let undo = self.undo
    self.undo = Undo()
    for (id, before) in undo.items {
      queue.drop(id)
      if let entry = before.entry { queue.restore(entry) }
      unplace(id)
      if let item = before.item { place(item) }
    }
    for (key, zone) in undo.zones { zones[key] = zone }
    for (key, share) in undo.shares { shares[key] = share }
    if let settings = undo.settings { self.settings = settings }
    self.undo = Undo()
  }

  /// Takes in one change of the journal, at a start.
  mutating func replay(_ change: StoreChange) {
    switch change {
    case .item(let item, let entry):
      queue.drop(item.id)
      if let entry { queue.restore(entry) }
      place(item)
    case .removed(let id):
      queue.drop(id)
      unplace(id)
    case .zone(let key, let zone): zones[key] = zone
    case .share(let key, let share): shares[key] = share
    case .settings(let settings): self.settings = settings
    }
  }

  /// Everything, in groups of a thousand, as a new journal would begin.
  func everything() -> [[StoreChange]] {
    var changes: [StoreChange] = [.settings(settings)]
    changes += zones.sorted { $0.key < $1.key }.map { .zone($0.key, $0.value) }
    changes += shares.sorted { $0.key < $1.key }.map { .share($0.key, $0.value) }
    let order = items.values.sorted { $0.id.uuidString < $1.id.uuidString }
    changes += order.map { .item($0, queue[$0.id]) }
    return stride(from: 0, to: changes.count, by: 1_000).map {
      Array(changes[$0..<min($0 + 1_000, changes.count)])
    }
  }

  private mutating func touch(_ id: UUID) {
    guard undo.items[id] == nil else { return }
    undo.items[id] = (items[id], queue[id])
    undo.order.append(id)
  }

  private mutating func place(_ item: StoredItem) {
    if let old = items[item.id]?.parent, old != item.parent {
      children[old]?.remove(item.id)
      if children[old]?.isEmpty == true { children[old] = nil }
    }
    let isNew = items.updateValue(item, forKey: item.id) == nil
    if let parent = item.parent {
      children[parent, default: []].insert(item.id)
      if items[parent] == nil { holding.hold(item.id, for: parent) } else { holding.drop(item.id) }
    }
    if isNew { undo.released += holding.release(item.id) }
  }

  private mutating func unplace(_ id: UUID) {
    guard let item = items.removeValue(forKey: id) else { return }
    holding.drop(id)
    if let parent = item.parent {
      children[parent]?.remove(id)
      if children[parent]?.isEmpty == true { children[parent] = nil }
    }
    for child in childIDs(of: id) { holding.hold(child, for: id) }
  }
}
