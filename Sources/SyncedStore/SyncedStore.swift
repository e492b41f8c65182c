package import Disk
public import Foundation
import Synchronization

/// The items of an app in one zone, on the device and in sync with the account's other devices.
///
/// An app describes its types of items, and then saves, deletes and reads them. Each change is on
/// the disk when the call returns, and reaches the server when that is possible: also after a
/// crash, a conflict, a change of the account, or when the zone was removed.
///
/// ```swift
/// let store = try SyncedStore(
///   zoneID: CKRecordZone.ID(zoneName: "Notes"), directory: folder,
///   types: [SyncedType(Note.self, merging: .laterWins { $0.modified })])
/// try store.start(container)
/// try store.save(Note("Bread, milk"))
/// ```
///
/// The directory has two files: the items, with their system fields and unsent changes, and the
/// engine's state. All members can be called from any thread; changes wait for the disk. Open one
/// store at a time on a directory, also in other processes: a second one does not see the changes
/// of the first before it is opened again. A store that finds changes of another one when it
/// writes reports that in ``status``.
public final class SyncedStore: Sendable {
  /// The names of a store's files.
  public struct FileNames: Sendable {
    /// The items, with everything known about their records.
    public var items: String
    /// The engine's state.
    public var state: String
    /// The disk of the files; `nil` for the system's.
    package var disk: (any Disk)?

    /// Names the files.
    public init(items: String = "synced-items.journal", state: String = "sync-state.data") {
      self.items = items
      self.state = state
    }
  }

  struct State: Sendable {
    var table: ItemTable
    var journal: Journal<StoredColumns>
    var recoveries: [FileRecovery] = []
    var observers: [AsyncStream<ItemChange>.Continuation] = []
    var statusObservers: [AsyncStream<Status>.Continuation] = []
    /// The database for the next start.
    var connection: Connection?
    var run: Run?
    /// The database of the last start of a store that ran already: if it came during a shutdown,
    /// the store is started again.
    var restart: Connection?
    /// The number of calls of ``SyncedStore/sync(rounds:)`` that have not returned.
    var syncs = 0
    var failure: CKError?
    let isRecovering: Bool
    /// Whether the file still has items that must not be there any more.
    var mustRewrite = false

    /// The database of the engine at work, or that of the next start.
    var current: Connection? { run?.connection ?? connection }
  }

  /// The zone of the items.
  public let zoneID: CKRecordZone.ID

  let state: Mutex<State>
  let stateFile: AtomicFile

  /// Opens a store; nothing is sent before ``start()``.
  ///
  /// - Parameters:
  ///   - zoneID: the zone of items that are saved without a zone.
  ///   - directory: a folder for this store, which is created with the first change.
  ///   - types: all types of items, those of records from older versions of the app included.
  ///   - files: the names of the files.
  ///   - isRecovering: whether a damaged file is set aside; ``recoveries`` lists it, and everything
  ///     is fetched again.
  ///   - accepts: whether the store keeps the records of a zone; by default only those of `zoneID`.
  ///   - recreates: whether a zone of the account that is missing, but was not deleted, or whose
  ///     encrypted data was reset, is created again with its items; otherwise the items and their
  ///     unsent changes are removed. By default every zone is.
  ///   - importing: fills a new store, such as with the items of an older version of the app. It is
  ///     called while there is no file, so again after a crash.
  /// - Throws: `FileError` if a file is damaged, can't be read, is from a newer version of the app,
  ///   or has items of another form than their types; ``SyncedStoreError`` if the items are those
  ///   of another `zoneID`, or imported ones can't be kept; the error of `importing`. The files
  ///   stay as they are.
  public init(
    zoneID: CKRecordZone.ID, directory: URL, types: [SyncedType],
    files: FileNames = FileNames(), recovering isRecovering: Bool = false,
    accepting accepts: (@Sendable (CKRecordZone.ID) -> Bool)? = nil,
    recreating recreates: @escaping @Sendable (CKRecordZone.ID) -> Bool = { _ in true },
    importing: (inout SyncedStoreImport) throws -> Void = { _ in }
  ) throws {
    self.zoneID = zoneID
    stateFile = AtomicFile(directory.appendingPathComponent(files.state), on: files.disk)
    var opened = State(
      table: ItemTable(
        types: types, zone: zoneID, accepting: accepts ?? { $0 == zoneID }, recreating: recreates),
      journal: Journal(
        AtomicFile(directory.appendingPathComponent(files.items), on: files.disk),
        format: "synced-items", version: 2),
      isRecovering: isRecovering)
    try opened.read(besides: stateFile, importing)
    state = Mutex(opened)
  }

  deinit {
    state.withLock { state in
      for observer in state.observers { observer.finish() }
      for observer in state.statusObservers { observer.finish() }
    }
  }

  // MARK: Reading

  /// The items of a type, in the order in which they were created.
  ///
  /// Without a zone, the items of all zones are returned.
  public func items<Item: SyncedItem>(
    _ type: Item.Type = Item.self, in zone: CKRecordZone.ID? = nil
  ) -> [Item] {
    state.withLock { $0.table.items(Item.recordType, in: zone) }.compactMap { $0 as? Item }
  }

  /// The item with a name; `nil` if there is none.
  ///
  /// Without a zone, the store's own is meant.
  public func item<Item: SyncedItem>(
    _ type: Item.Type = Item.self, named name: String, in zone: CKRecordZone.ID? = nil
  ) -> Item? {
    state.withLock { $0.table[$0.table.recordID(name, in: zone)]?.item } as? Item
  }

  /// Whether the server has not confirmed the last change of an item.
  public func isUnsent(_ name: String, in zone: CKRecordZone.ID? = nil) -> Bool {
    state.withLock { $0.table.unsent.contains($0.table.recordID(name, in: zone)) }
  }

  /// The number of unsent changes of a type's items.
  public func unsentCount<Item: SyncedItem>(of type: Item.Type) -> Int {
    state.withLock { state in
      state.table.unsent.count { state.table[$0]?.type == Item.recordType }
    }
  }

  /// The names of the records that only a newer version of the app can read.
  public var unreadableNames: [String] {
    state.withLock { $0.table.unreadable.map(\.recordName) }.sorted()
  }

  /// The record that only a newer version of the app can read; `nil` if there is none.
  ///
  /// Without a zone, the store's own is meant.
  public func unreadableRecord(named name: String, in zone: CKRecordZone.ID? = nil) -> CKRecord? {
    state.withLock { $0.table[$0.table.recordID(name, in: zone)]?.unreadable }
      .flatMap { CKRecord(archive: $0) }
  }

  /// The value of a property that ``SyncedTransaction`` set.
  public func property(_ name: String) -> String? {
    state.withLock { $0.table.settings.properties[name] }
  }

  /// The files that were damaged and set aside.
  public var recoveries: [FileRecovery] { state.withLock { $0.recoveries } }

  /// The state of the sync.
  public var status: Status { state.withLock { $0.status } }

  /// The state of the sync after each event of it and each local change from now on.
  ///
  /// Only the newest is kept for a reader that is slower. The sequence ends with the store.
  public var statusUpdates: AsyncStream<Status> { stream(\.statusObservers, .bufferingNewest(1)) }

  /// The records with a change that can be sent, in the order of the changes.
  public var unsentRecordIDs: [CKRecord.ID] { state.withLock { $0.table.due } }

  /// The changes that come from the server, from now on.
  ///
  /// The deletions of items that these made surplus are among them; the app's own changes are not.
  /// The sequence ends with the store.
  public var changes: AsyncStream<ItemChange> { stream(\.observers, .unbounded) }

  /// A sequence whose continuation is in a list of the state until the first event after its end.
  ///
  /// The end of a sequence must not wait for the store: a task that is cancelled ends its sequence
  /// while it holds a lock for which `yield` waits, and the store yields under its own lock.
  private func stream<Element>(
    _ list: any WritableKeyPath<State, [AsyncStream<Element>.Continuation]> & Sendable,
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    state.withLock { $0[keyPath: list].append(continuation) }
    return stream
  }

  /// Handles records that the app received in another way than by a sync, such as by a query, as
  /// if they had been fetched.
  ///
  /// Records of zones that the store does not accept are ignored. Before the first sign-in the
  /// account of a record is unknown: the sign-in removes the record, and a sync fetches it again.
  /// A record that the server modified before the known version of it is ignored. An older record
  /// of an item that was deleted meanwhile can't be distinguished from a new one: it is shown until
  /// the next fetch of the whole zone.
  ///
  /// - Throws: `FileError` if they can't be stored; they are handled all the same.
  public func receive(_ records: [CKRecord], deleted: [CKRecord.ID] = []) throws {
    try state.withLock { state in
      for record in records
      where state.table.accepts(record.recordID.zoneID) && !state.table.isOutdated(record) {
        // A read of the whole zone that has passed its place would take it for deleted.
        state.run?.readZones[record.recordID.zoneID]?.records.insert(record.recordID)
        state.table.take(record)
      }
      for id in deleted where state.table.accepts(id.zoneID) {
        state.run?.readZones[id.zoneID]?.records.remove(id)
        state.table.takeDeletion(id)
      }
      settle(&state)
      try state.flush()
    }
  }

  // MARK: Changing

  /// Saves an item, new or changed.
  ///
  /// Without a zone, the store's own is meant.
  /// - Throws: `FileError` if it can't be stored, ``SyncedStoreError`` for a type that the store
  ///   was opened without, a name that CloudKit does not accept or that an item of another type
  ///   has, or a zone that is not shared with the account any more; nothing is changed then.
  public func save<Item: SyncedItem>(_ item: Item, in zone: CKRecordZone.ID? = nil) throws {
    try change { try $0.save(item, in: zone) }
  }

  /// Changes an item as it is now, and saves it: what was fetched since the app read it is kept.
  ///
  /// - Parameters:
  ///   - type: the type of the item.
  ///   - name: the name of the item's record.
  ///   - zone: the zone; `nil` for the store's own.
  ///   - change: changes the item, and leaves the name of its record. It must not call the store.
  /// - Returns: whether there is such an item.
  /// - Throws: the error of `change`; as ``save(_:in:)``. Nothing is changed then.
  @discardableResult
  public func edit<Item: SyncedItem>(
    _ type: Item.Type, named name: String, in zone: CKRecordZone.ID? = nil,
    _ change: (inout Item) throws -> Void
  ) throws -> Bool {
    try self.change { try $0.edit(type, named: name, in: zone, change) }
  }

  /// Deletes an item, here and on the server; an item of another type that has the name stays.
  ///
  /// - Throws: `FileError` if it can't be stored; nothing is changed then.
  public func delete<Item: SyncedItem>(_ item: Item, in zone: CKRecordZone.ID? = nil) throws {
    try change { $0.delete(Item.self, named: item.recordName, in: zone) }
  }

  /// Makes several changes at once; they are stored together or not at all.
  ///
  /// - Parameter body: makes the changes. It must not call the store.
  /// - Throws: the error of `body`, or `FileError` if the changes can't be stored; nothing is
  ///   changed then.
  @discardableResult
  public func change<Result: Sendable>(
    _ body: (inout SyncedTransaction) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      let (result, hasChanged) = try state.change(body)
      state.act()
      // An observer may repeat a change at each status, which must not cause another one.
      if hasChanged { state.tellStatus() }
      // The change is stored; a file that can't be written anew now is another time.
      if state.journal.isMostlyObsolete { try? state.rewrite() }
      return result
    }
  }
}

extension SyncedStore.State {
  /// The figures and problems, with that of a second store on the folder.
  private var activity: SyncedStore.Activity {
    guard journal.hasOthersLines else { return table.activity }
    var activity = table.activity
    activity.note(
      .file(journal.url.lastPathComponent), nil,
      "Another store has changed the same file. Open one store at a time on a folder; the changes "
        + "of the other one are visible when this one is opened again.")
    return activity
  }

  var status: SyncedStore.Status {
    SyncedStore.Status(
      isRunning: run != nil, isSyncing: syncs > 0, unsentCount: table.unsent.count,
      unreadableCount: table.unreadable.count, lastSync: table.settings.lastSync,
      failure: failure, activity: activity, account: table.settings.owner,
      hasZone: table.zone(table.defaultZone).exists)
  }

  /// Reads the file, or imports.
  ///
  /// - Parameter stateFile: if there is one, the items of a damaged file belong to an account.
  mutating func read(
    besides stateFile: AtomicFile, _ importing: (inout SyncedStoreImport) throws -> Void
  ) throws {
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    if let key = StoredColumns.types { userInfo[key] = table.types }
    let reading = try journal.read(recovering: isRecovering, userInfo: userInfo)
    table.load(reading.changes)
    try table.checkZone()
    if let recovery = reading.recovery {
      recoveries.append(recovery)
      if table.settings.owner == nil, try table.mayHaveSynced || stateFile.read() != nil {
        table.settings.owner = StoreSettings.unknownOwner
      }
      table.settings.states = []
      try rewrite()
    }
    guard !reading.exists else { return }
    var content = SyncedStoreImport(table: table)
    try importing(&content)
    table = content.table
    table.forgetTracesOfUnknownAccount()
    _ = table.takeEffects()
    if !table.isEmpty { try rewrite() }
  }

  /// Makes local changes, and stores them.
  ///
  /// - Returns: the result of `body`, and whether it changed anything.
  mutating func change<Result>(
    _ body: (inout SyncedTransaction) throws -> Result
  ) throws -> (Result, hasChanged: Bool) {
    // The former account's items are erased before a line of this account is added.
    if mustRewrite { try rewrite() }
    // The table is moved, not copied, so that a change costs nothing for other items.
    var transaction = SyncedTransaction(table: table)
    table = ItemTable(
      types: [], zone: table.defaultZone, accepting: table.accepts, recreating: table.recreates)
    defer { table = transaction.table }
    transaction.table.begin()
    do {
      let result = try body(&transaction)
      transaction.table.removeSurplus()
      let changes = transaction.table.changesToCommit()
      if !changes.isEmpty { try journal.append(changes) }
      transaction.table.commit()
      return (result, !changes.isEmpty)
    } catch {
      transaction.table.rollBack()
      throw error
    }
  }

  /// Stores what events changed, and rewrites the file if most of it is obsolete.
  mutating func flush() throws(FileError) {
    if mustRewrite { return try rewrite() }
    if journal.isMostlyObsolete, (try? rewrite()) != nil { return }
    let changes = table.takeUnstored()
    guard !changes.isEmpty else { return }
    do throws(FileError) {
      try journal.append(changes)
    } catch {
      table.putBack(changes)
      throw error
    }
  }

  fileprivate mutating func rewrite() throws(FileError) {
    // What must be erased is erased, whoever wrote it.
    try journal.rewrite(table.everything(), replacingOthers: mustRewrite)
    _ = table.takeUnstored()
    mustRewrite = false
  }

  mutating func tellStatus() {
    guard !statusObservers.isEmpty else { return }
    let status = status
    statusObservers.yield(status)
  }

  /// Carries out what the table asks for: tells the engine and the observers.
  mutating func act() {
    let effects = table.takeEffects()
    for change in effects.visible { observers.yield(change) }
    guard let pending = run?.pending else { return }
    func saves(_ zones: [CKRecordZone.ID]) -> [CKSyncEngine.PendingDatabaseChange] {
      zones.map { .saveZone(CKRecordZone(zoneID: $0)) }
    }
    let (dropped, saved) = (saves(effects.droppedZones), saves(effects.savedZones))
    if !effects.removed.isEmpty { pending.remove(pendingRecordZoneChanges: effects.removed) }
    if !dropped.isEmpty { pending.remove(pendingDatabaseChanges: dropped) }
    if !saved.isEmpty { pending.add(pendingDatabaseChanges: saved) }
    if !effects.added.isEmpty { pending.add(pendingRecordZoneChanges: effects.added) }
    if !effects.touched.isEmpty { run?.engineState.hasOwnChanges = true }
  }
}

extension Array {
  /// Yields a value to all sequences, and removes those that have ended.
  mutating func yield<Value: Sendable>(_ value: Value)
  where Element == AsyncStream<Value>.Continuation {
    removeAll { continuation in
      if case .terminated = continuation.yield(value) { true } else { false }
    }
  }
}
