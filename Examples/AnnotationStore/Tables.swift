import Foundation
import SyncSupport

/// One row of the tables, as the journal stores it.
enum StoreChange: Hashable, Sendable, Codable {
  /// An item; an earlier version of the app stored the change that waits beside it.
  case item(StoredItem, QueuedChange?)
  case removed(UUID)
  case zone(String, ZoneState?)
  case share(String, ShareState?)
  case settings(StoreSettings)
}

/// Everything that a store keeps, in memory, and the rows that the current transaction changed.
///
/// Changes take effect at once and are undone if the disk refuses them. Nothing is copied as a
/// whole, so a change costs its own size.
struct Tables {
  private(set) var items: [UUID: StoredItem] = [:]
  private(set) var zones: [String: ZoneState] = [:]
  private(set) var shares: [String: ShareState] = [:]
  private(set) var settings = StoreSettings()

  // The part that is not stored.
  var metrics = SyncMetrics()
  /// Whether nothing is uploaded until the user made space and asks again.
  var isStorageFull = false

  private var lastNumber: UInt64 = 0
  /// The children of each parent, whether that is here or not.
  private var children: [UUID: Set<UUID>] = [:]
  /// The rows as they were before the transaction, in the order in which it changed them.
  private var before: [(key: Key, row: StoreChange)] = []
  private var changed: Set<Key> = []

  private enum Key: Hashable {
    case item(UUID)
    case zone(String)
    case share(String)
    case settings
  }

  // MARK: Reading

  /// The offline queue: the items with a change that waits, in the order of the changes.
  var waiting: [StoredItem] {
    items.values.filter { $0.change != nil }
      .sorted { ($0.change?.number ?? 0) < ($1.change?.number ?? 0) }
  }

  /// The item with an ID, unless it is of another kind or waits for its removal.
  func item(_ id: UUID, _ kind: ItemKind) -> StoredItem? {
    guard let item = items[id], item.kind == kind, !item.isPurged else { return nil }
    return item
  }

  /// The children of an item in the order of their IDs.
  func childIDs(of id: UUID) -> [UUID] {
    let kind = items[id]?.kind
    // An item under one of a wrong kind has no parent; so the recursion over children ends.
    return (children[id] ?? []).filter { kind == nil || items[$0]?.kind.parent?.kind == kind }
      .sorted { $0.precedes($1) }
  }

  /// The parent of an item; `nil` if it has none, or it is not here.
  func parent(of item: StoredItem) -> StoredItem? {
    guard let parent = item.parent.flatMap({ items[$0] }), parent.kind == item.kind.parent?.kind,
      parent.owner == item.owner
    else { return nil }
    return parent
  }

  /// Whether users see the item: neither it nor its parent is in the trash.
  func isShown(_ item: StoredItem) -> Bool {
    guard !item.isPurged, !item.fields.isDeleted, item.isReadable else { return false }
    return item.kind.parent == nil || parent(of: item).map(isShown) == true
  }

  /// The share of an item's layer; `nil` if there is none.
  func share(of item: StoredItem) -> ShareState? {
    if item.kind.parent != nil { return parent(of: item).flatMap { share(of: $0) } }
    return item.cloud?.share.flatMap { shares[ShareState.key($0, owner: item.owner)] }
  }

  // MARK: Changing

  /// Stores an item whose change waits to be sent, or is complete.
  mutating func put(_ item: StoredItem, waits change: QueuedChange.Kind?) {
    if let change, item.change?.change != change { return putEdited(item, change) }
    var item = item
    if change == nil { item.change = nil }
    replace(item)
  }

  /// Stores an item that a person changed: a save in progress is older than the change.
  mutating func putEdited(_ item: StoredItem, _ change: QueuedChange.Kind = .save) {
    lastNumber &+= 1
    var item = item
    item.change = QueuedChange(change: change, number: lastNumber)
    replace(item)
  }

  /// Stores an item with its place in the queue.
  mutating func replace(_ item: StoredItem) {
    change(.item(item.id))
    place(item)
  }

  mutating func remove(_ id: UUID) {
    change(.item(id))
    restore(.removed(id))
  }

  mutating func setZone(_ key: String, _ zone: ZoneState?) {
    change(.zone(key))
    zones[key] = zone
  }

  mutating func setShare(_ key: String, _ share: ShareState?) {
    change(.share(key))
    shares[key] = share
  }

  mutating func changeSettings(_ body: (inout StoreSettings) -> Void) {
    change(.settings)
    body(&settings)
  }

  // MARK: Transactions

  /// The rows that the transaction changed.
  var changedRows: [StoreChange] {
    before.compactMap { key, old in
      let row = row(key)
      return row == old ? nil : row
    }
  }

  /// The items that the transaction changed, and the children of those that it added.
  var changedItems: [UUID] {
    let ids = before.compactMap { if case .item(let id) = $0.key { id } else { nil } }
    let added = before.compactMap { if case .removed(let id) = $0.row { id } else { nil } }
    return ids
      + added.flatMap { items[$0] == nil ? [] : childIDs(of: $0) }
      .filter { !changed.contains(.item($0)) }
  }

  /// Ends the transaction: its changes stay.
  mutating func keep() {
    (before, changed) = ([], [])
  }

  /// Ends the transaction: everything is as before.
  mutating func rollBack() {
    for (_, row) in before { restore(row) }
    keep()
  }

  /// Takes over a row as it was stored.
  mutating func restore(_ row: StoreChange) {
    switch row {
    case .item(let item, let change):
      var item = item
      item.change = item.change ?? change
      lastNumber = max(lastNumber, item.change?.number ?? 0)
      place(item)
    case .removed(let id):
      guard let item = items.removeValue(forKey: id) else { return }
      unlink(item)
    case .zone(let key, let zone): zones[key] = zone
    case .share(let key, let share): shares[key] = share
    case .settings(let settings): self.settings = settings
    }
  }

  /// All rows in groups, for a new journal.
  var everything: [[StoreChange]] {
    let keys =
      [.settings] + zones.keys.map(Key.zone) + shares.keys.map(Key.share)
      + items.keys.map(Key.item)
    return keys.chunks(of: 1_000).map { $0.map(row) }
  }

  private func row(_ key: Key) -> StoreChange {
    switch key {
    case .item(let id): items[id].map { .item($0, nil) } ?? .removed(id)
    case .zone(let key): .zone(key, zones[key])
    case .share(let key): .share(key, shares[key])
    case .settings: .settings(settings)
    }
  }

  /// Notes a row as it is before its change.
  private mutating func change(_ key: Key) {
    if changed.insert(key).inserted { before.append((key, row(key))) }
  }

  private mutating func place(_ item: StoredItem) {
    if let old = items.updateValue(item, forKey: item.id) { unlink(old) }
    if let parent = item.parent { children[parent, default: []].insert(item.id) }
  }

  private mutating func unlink(_ item: StoredItem) {
    guard let parent = item.parent else { return }
    children[parent]?.remove(item.id)
    if children[parent]?.isEmpty == true { children[parent] = nil }
  }
}
