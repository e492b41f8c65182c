import Foundation

/// The items of a store with their changes, and the rules for everything that happens to them: a
/// value without files, clocks and engines.
///
/// Its owner makes local changes through a ``SyncedTransaction`` and hands over the engine's
/// events. After each of them it carries out ``takeEffects()``, and before it stores the engine's
/// state it stores ``takeUnstored()``.
struct ItemTable: Sendable {
  /// What has to follow from a change or an event.
  struct Effects: Sendable {
    /// The records that have or had a change, so that the engine's list may differ from it.
    var touched: [CKRecord.ID] = []
    /// Changes for the engine's list of pending changes.
    fileprivate(set) var added: [CKSyncEngine.PendingRecordZoneChange] = []
    fileprivate(set) var removed: [CKSyncEngine.PendingRecordZoneChange] = []
    var savedZones: [CKRecordZone.ID] = []
    var droppedZones: [CKRecordZone.ID] = []
    /// Changes for the app.
    var visible: [SyncedStore.ItemChange] = []
    /// Whether items were removed that must not stay in the file: it is rewritten at once.
    var isErased = false
    /// Whether they were those of another account: the engine's state is removed, too.
    var isWiped = false
  }

  struct Position: Hashable, Sendable {
    var order: UInt64
    var id: CKRecord.ID
  }

  /// The state before a transaction.
  private struct UndoLog: Sendable {
    /// The entries that were changed, as they were before.
    var entries: [CKRecord.ID: Entry?] = [:]
    var settings: StoreSettings
    var activity: SyncedStore.Activity
    var attempts: [CKRecord.ID: Int]
  }

  let types: [CKRecord.RecordType: SyncedType]
  let defaultZone: CKRecordZone.ID
  /// Whether the store is responsible for a zone.
  let accepts: @Sendable (CKRecordZone.ID) -> Bool
  /// Whether a zone that is missing is created again.
  let recreates: @Sendable (CKRecordZone.ID) -> Bool
  var scope = CKDatabase.Scope.private
  var settings = StoreSettings() {
    didSet { if settings != oldValue { isSettingsStored = false } }
  }
  var activity = SyncedStore.Activity()
  var effects = Effects()

  private(set) var entries: [CKRecord.ID: Entry] = [:]
  /// The records with a change.
  private(set) var unsent: Set<CKRecord.ID> = []
  private(set) var unreadable: Set<CKRecord.ID> = []
  /// The positions of the records of each type that was read, in their order.
  ///
  /// Positions of entries that were removed may be among them.
  private(set) var positions: [CKRecord.RecordType: [Position]] = [:]
  private var unstored: Set<CKRecord.ID> = []
  /// `nil` outside of a transaction.
  private var undoLog: UndoLog?
  /// The types with changes since limits were checked.
  private var changedTypes: Set<CKRecord.RecordType> = []
  private var isSettingsStored = true
  private(set) var lastNumber: UInt64 = 0
  private var lastOrder: UInt64 = 0

  var handedOver: [CKRecord.ID] = []
  /// The number of the change of each record that is being sent.
  var inFlight: [CKRecord.ID: UInt64] = [:]
  /// The number of times in a row that a change was sent again.
  var attempts: [CKRecord.ID: Int] = [:]
  /// The zones that are missing, although nothing said that they were deleted.
  var missingZones: Set<CKRecordZone.ID> = []
  /// The records that this device deleted and whose deletion was not fetched yet: a fetch also
  /// brings what this device did.
  var ownDeletions: Set<CKRecord.ID> = []

  init(
    types: [SyncedType], zone: CKRecordZone.ID,
    accepting accepts: @escaping @Sendable (CKRecordZone.ID) -> Bool,
    recreating recreates: @escaping @Sendable (CKRecordZone.ID) -> Bool
  ) {
    self.types = Dictionary(types.map { ($0.recordType, $0) }, uniquingKeysWith: { $1 })
    self.defaultZone = zone
    self.accepts = accepts
    self.recreates = recreates
  }

  subscript(id: CKRecord.ID) -> Entry? { entries[id] }

  /// Whether anything tells that the items belong to an account.
  var mayHaveSynced: Bool {
    settings.lastSync != nil || !settings.states.isEmpty || !settings.zones.isEmpty
      || entries.values.contains { $0.mayBeOnServer || $0.unreadable != nil }
  }

  /// Whether there is nothing to store.
  var isEmpty: Bool {
    entries.isEmpty && settings == StoreSettings(defaultZone: settings.defaultZone)
  }

  /// Checks that the items are those of the store's zone, or makes them so if there are none.
  mutating func checkZone() throws(SyncedStoreError) {
    let zone = StoreSettings.Zone(name: defaultZone.zoneName, owner: defaultZone.ownerName)
    guard let known = settings.defaultZone, known != zone, !entries.isEmpty else {
      settings.defaultZone = zone
      return
    }
    throw SyncedStoreError(
      .otherZone,
      "The items of this store are those of the zone \(known.words). "
        + "Open a store in another folder for the zone \(zone.words).")
  }

  /// Forgets the engine's state, and the fields of unsent changes, if their account is unknown.
  ///
  /// An engine with a state would not report the account, so that a sign-out would remove nothing.
  /// As those of another account the fields would be wrong, and the first sign-in would remove the
  /// changes with them.
  mutating func forgetTracesOfUnknownAccount() {
    guard settings.owner == nil else { return }
    settings.states = []
    for id in unsent {
      update(id) { entry in
        guard entry.systemFields != nil else { return }
        entry.systemFields = nil
        entry.change?.wasOffered = true
      }
    }
  }

  /// The only place where an entry changes.
  mutating func set(_ entry: Entry?, for id: CKRecord.ID) {
    let entry = entry.flatMap { $0.isEmpty ? nil : $0 }
    if undoLog?.entries.keys.contains(id) == false { undoLog?.entries[id] = .some(entries[id]) }
    if let type = entry?.type { changedTypes.insert(type) }
    if entry?.change != nil || entries[id]?.change != nil { effects.touched.append(id) }
    if let entry { notePosition(of: entry, id) }
    entries[id] = entry
    unstored.insert(id)
    if entry?.change == nil { unsent.remove(id) } else { unsent.insert(id) }
    if entry?.unreadable == nil { unreadable.remove(id) } else { unreadable.insert(id) }
  }

  mutating func update(_ id: CKRecord.ID, _ change: (inout Entry) -> Void) {
    guard var entry = entries[id] else { return }
    change(&entry)
    set(entry, for: id)
  }

  /// A new entry, behind all others.
  mutating func newEntry(_ type: CKRecord.RecordType) -> Entry {
    lastOrder += 1
    return Entry(type: type, order: lastOrder)
  }

  mutating func newChange(isDeletion: Bool) -> Entry.Change {
    lastNumber += 1
    return Entry.Change(isDeletion: isDeletion, number: lastNumber)
  }

  func recordID(_ name: String, in zone: CKRecordZone.ID?) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone ?? defaultZone)
  }

  /// The ID of a record that the store can keep.
  func checkedID(
    _ type: CKRecord.RecordType, _ name: String, in zone: CKRecordZone.ID?
  ) throws(SyncedStoreError) -> CKRecord.ID {
    guard types[type] != nil else {
      throw SyncedStoreError(
        .unknownType, "The store was opened without the type \(type); name it in `types`.")
    }
    guard (1...255).contains(name.utf8.count), name.first != "_", name.utf8.allSatisfy({ $0 < 128 })
    else {
      throw SyncedStoreError(
        .invalidName,
        "The name \"\(name.prefix(80))\" can't be that of a record, so the item was not saved. Use "
          + "1 to 255 ASCII characters, the first of which is no underscore.")
    }
    let id = recordID(name, in: zone)
    if let known = entries[id]?.type, known != type {
      throw SyncedStoreError(
        .usedName,
        "The name \"\(name)\" is that of a record of the type \(known), which has to be deleted "
          + "and synced first. The item of the type \(type) was not saved; use another name.")
    }
    return id
  }

  /// The items of a type, in the order in which they were created.
  mutating func items(_ type: CKRecord.RecordType, in zone: CKRecordZone.ID?) -> [any SyncedItem] {
    sortPositions(type)
    return (positions[type] ?? []).compactMap { position in
      guard zone == nil || position.id.zoneID == zone, let entry = entries[position.id],
        entry.order == position.order, entry.type == type
      else { return nil }
      return entry.item
    }
  }

  /// Sorts the positions of a type, unless they are known and few of them are of removed entries.
  private mutating func sortPositions(_ type: CKRecord.RecordType) {
    if let known = positions[type], known.count <= 2 * entries.count { return }
    positions[type] = entries.filter { $1.type == type }
      .map { Position(order: $1.order, id: $0) }
      .sorted { ($0.order, $0.id.recordName) < ($1.order, $1.id.recordName) }
  }

  /// Adds the position of an entry that is new behind the others, or has them sorted again.
  private mutating func notePosition(of entry: Entry, _ id: CKRecord.ID) {
    guard let last = positions[entry.type].map({ $0.last?.order ?? 0 }),
      entries[id]?.order != entry.order || entries[id]?.type != entry.type
    else { return }
    if last < entry.order {
      positions[entry.type]?.append(Position(order: entry.order, id: id))
    } else {
      positions[entry.type] = nil
    }
  }

  /// Deletes the items of the store's own zone that exceed a limit of the app.
  ///
  /// - Parameter areShown: whether the app learns of them as changes that it did not make.
  mutating func removeSurplus(shown areShown: Bool = false) {
    let types = changedTypes.sorted()
    changedTypes = []
    for type in types {
      guard let surplus = self.types[type]?.surplus else { continue }
      for name in surplus(items(type, in: defaultZone)) {
        let id = recordID(name, in: nil)
        delete(id)
        guard areShown else { continue }
        effects.visible.append(
          SyncedStore.ItemChange(recordID: id, recordType: type, kind: .removed))
      }
    }
  }

  // MARK: Transactions

  /// Begins to record what is needed to take changes back.
  mutating func begin() {
    undoLog = UndoLog(settings: settings, activity: activity, attempts: attempts)
  }

  /// The changes since ``begin()``, to be stored.
  func changesToCommit() -> [StoredChange] {
    let ids = (undoLog?.entries ?? [:]).keys.sorted { $0.recordName < $1.recordName }
    var changes = ids.map { stored($0) }
    if settings != undoLog?.settings || !isSettingsStored {
      changes.append(StoredChange(settings: settings))
    }
    return changes
  }

  /// Notes that the changes since ``begin()`` are stored.
  mutating func commit() {
    unstored.subtract(undoLog.map { Array($0.entries.keys) } ?? [])
    isSettingsStored = true
    undoLog = nil
  }

  /// Takes the changes since ``begin()`` back.
  mutating func rollBack() {
    guard let before = undoLog.take() else { return }
    for (id, entry) in before.entries { set(entry, for: id) }
    settings = before.settings
    activity = before.activity
    attempts = before.attempts
    effects = Effects()
  }

  // MARK: Local changes

  /// Saves an item, which is sent unless it stays on the device or is saved already.
  mutating func save(_ item: any SyncedItem, _ id: CKRecord.ID) {
    var entry = entries[id] ?? newEntry(type(of: item).recordType)
    guard !item.isEqual(to: entry.item) else { return }
    let before = entry.item
    entry.item = item
    entry.type = type(of: item).recordType
    if item.isSynced, item.isEqual(to: entry.base), entry.isBaseOnServer {
      entry.settle()
    } else if item.isSynced {
      // The base stays that of the first change that was not sent.
      if entry.change == nil, entry.systemFields != nil { entry.base = before }
      entry.replaceChange(of: before, by: newChange(isDeletion: false))
    } else if entry.mayBeOnServer {
      entry.replaceChange(of: before, by: newChange(isDeletion: true))
      entry.base = nil
    } else {
      entry.change = nil
    }
    // A record that can't be read is still the reason why the change waits.
    if entry.unreadable == nil { forgetFailure(id) }
    set(entry, for: id)
  }

  /// Deletes an item, also on the server if the server may have the record.
  ///
  /// - Parameter type: the type of a record that the store does not have, but the server may have.
  mutating func delete(_ id: CKRecord.ID, evenIfUnknown type: CKRecord.RecordType? = nil) {
    var entry: Entry
    if let known = entries[id] {
      entry = known
    } else if let type {
      entry = newEntry(type)
    } else {
      return
    }
    let before = entry.item
    let isSynced = before?.isSynced ?? true
    entry.item = nil
    entry.base = nil
    if entry.mayBeOnServer || (type != nil && isSynced) || entry.unreadable != nil {
      if entry.change?.isDeletion != true {
        entry.replaceChange(of: before, by: newChange(isDeletion: true))
      }
    } else {
      entry.change = nil
    }
    forgetFailure(id)
    set(entry, for: id)
  }

  /// Forgets that the server refused an item's change.
  mutating func forgetFailure(_ id: CKRecord.ID) {
    attempts[id] = nil
    activity.solve(.record(id))
  }

  // MARK: Sending

  /// The record of an item as it is to be saved; `nil` if there is nothing to save any more.
  ///
  /// The change is noted as handed over.
  mutating func recordToSend(_ id: CKRecord.ID) -> CKRecord? {
    guard let entry = entries[id], entry.isDue, let change = entry.change, !change.isDeletion,
      let item = entry.item, let type = types[entry.type]
    else { return nil }
    inFlight[id] = change.number
    if !change.isHandedOver {
      // At once: a deletion before the record is sent must be sent, too.
      entries[id]?.change?.wasOffered = true
      entries[id]?.change?.isHandedOver = true
      handedOver.append(id)
    }
    let record = CKRecord.known(entry.systemFields, id: id, type: entry.type)
    type.write(item, record)
    return record
  }

  /// Notes that the server does not have the version that was handed over.
  mutating func noteRefusal(_ id: CKRecord.ID) { entries[id]?.change?.isHandedOver = false }

  /// The records whose last change was handed over, which has to be stored before they are sent.
  mutating func takeHandedOver() -> [CKRecord.ID] {
    defer { handedOver = [] }
    return handedOver.filter { entries[$0]?.change?.isHandedOver == true }
  }

  /// The records with a change that can be sent, in the order of the changes.
  var due: [CKRecord.ID] {
    unsent.filter { entries[$0]?.isDue == true }.sorted { first, second in
      (entries[first]?.change?.number ?? 0) < (entries[second]?.change?.number ?? 0)
    }
  }

  /// A record's change as the engine lists it; `nil` if there is none that can be sent.
  private func pendingChange(_ id: CKRecord.ID) -> CKSyncEngine.PendingRecordZoneChange? {
    guard let entry = entries[id], entry.isDue else { return nil }
    return entry.change?.isDeletion == true ? .deleteRecord(id) : .saveRecord(id)
  }

  /// Whether a change of the engine's list is the one that the record has.
  func isPending(_ change: CKSyncEngine.PendingRecordZoneChange) -> Bool {
    switch change {
    case .saveRecord(let id), .deleteRecord(let id): pendingChange(id) == change
    @unknown default: false
    }
  }

  /// Adds all changes that can be sent to the effects, and their zones that are not known to exist.
  mutating func sendEverything() {
    let due = due
    effects.touched += due
    for id in due { saveZoneIfNeeded(id.zoneID) }
  }

  /// Takes what has to follow: the engine lists the changes of the touched records that can be
  /// sent, and those of no other touched record; zones of saves that are not known to exist are
  /// created.
  mutating func takeEffects() -> Effects {
    for id in effects.touched {
      guard let change = pendingChange(id) else {
        effects.removed += [.saveRecord(id), .deleteRecord(id)]
        continue
      }
      if case .saveRecord = change { saveZoneIfNeeded(id.zoneID) }
      effects.added.append(change)
    }
    defer { effects = Effects() }
    return effects
  }

  /// Creates a zone of one's own that is not known to exist.
  mutating func saveZoneIfNeeded(_ zone: CKRecordZone.ID) {
    guard scope == .private, !self.zone(zone).exists, !missingZones.contains(zone),
      !effects.savedZones.contains(zone)
    else { return }
    effects.savedZones.append(zone)
  }

  // MARK: Zones

  func zone(_ id: CKRecordZone.ID) -> StoreSettings.Zone {
    settings.zones.first { $0.name == id.zoneName && $0.owner == id.ownerName }
      ?? StoreSettings.Zone(name: id.zoneName, owner: id.ownerName)
  }

  mutating func updateZone(_ id: CKRecordZone.ID, _ change: (inout StoreSettings.Zone) -> Void) {
    var zone = zone(id)
    change(&zone)
    settings.zones.removeAll { $0.name == zone.name && $0.owner == zone.owner }
    if zone.exists || zone.share != nil || zone.isAccessLost == true {
      settings.zones.append(zone)
    }
  }

  // MARK: Storing

  /// The changes that are not stored yet.
  mutating func takeUnstored() -> [StoredChange] {
    defer {
      unstored = []
      isSettingsStored = true
    }
    var changes = unstored.sorted { $0.recordName < $1.recordName }.map { stored($0) }
    if !isSettingsStored { changes.append(StoredChange(settings: settings)) }
    return changes
  }

  /// Notes that the entries of records were changed and not stored.
  mutating func noteUnstored(_ ids: [CKRecord.ID]) { unstored.formUnion(ids) }

  /// Notes that changes were not stored after all.
  mutating func putBack(_ changes: [StoredChange]) {
    for change in changes {
      if let key = change.key { unstored.insert(id(key)) }
      if change.settings != nil { isSettingsStored = false }
    }
  }

  /// The change that stores a record's entry.
  func stored(_ id: CKRecord.ID) -> StoredChange { StoredChange(key: key(id), entry: entries[id]) }

  /// Everything, in groups, for a new file.
  ///
  /// The settings are the first and the last of them: if one is damaged, the account is still
  /// known, and with it which unsent changes may be sent.
  func everything() -> [[StoredColumns]] {
    let changes = entries.keys.map { stored($0) }
    let lines = stride(from: 0, to: changes.count, by: 500).map {
      StoredColumns.columns(of: Array(changes[$0..<min($0 + 500, changes.count)]))
    }
    let settings = [StoredColumns.columns(of: [StoredChange(settings: settings)])]
    return settings + lines + settings
  }

  /// Takes over the content of a file.
  mutating func load(_ columns: [StoredColumns]) {
    entries.reserveCapacity(columns.reduce(0) { $0 + $1.changes.count })
    unsent.reserveCapacity(columns.reduce(0) { $0 + $1.changes.count { $0.entry?.change != nil } })
    for part in columns { for change in part.changes { load(change) } }
    effects = Effects()
    unstored = []
    isSettingsStored = true
  }

  private mutating func load(_ change: borrowing StoredChange) {
    if let settings = change.settings { self.settings = settings }
    for key in change.handedOver ?? [] {
      update(id(key)) { entry in
        entry.change?.wasOffered = true
        entry.change?.isHandedOver = true
      }
    }
    guard let key = change.key else { return }
    let id = id(key)
    entries[id] = change.entry
    lastOrder = max(lastOrder, change.entry?.order ?? 0)
    lastNumber = max(lastNumber, change.entry?.change?.number ?? 0)
    if change.entry?.change != nil {
      unsent.insert(id)
    } else if !unsent.isEmpty {
      unsent.remove(id)
    }
    if change.entry?.unreadable != nil {
      unreadable.insert(id)
    } else if !unreadable.isEmpty {
      unreadable.remove(id)
    }
  }

  func key(_ id: CKRecord.ID) -> StoredChange.Key {
    StoredChange.Key(
      name: id.recordName, zone: id.zoneID == defaultZone ? nil : id.zoneID.zoneName,
      owner: id.zoneID.ownerName == defaultZone.ownerName ? nil : id.zoneID.ownerName)
  }

  private func id(_ key: StoredChange.Key) -> CKRecord.ID {
    guard key.zone != nil || key.owner != nil else { return recordID(key.name, in: nil) }
    let zone = CKRecordZone.ID(
      zoneName: key.zone ?? defaultZone.zoneName, ownerName: key.owner ?? defaultZone.ownerName)
    return recordID(key.name, in: zone)
  }
}
