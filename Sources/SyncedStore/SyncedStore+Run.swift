public import Foundation
import Synchronization

extension SyncedStore {
  /// The database to sync with, and how.
  struct Connection: Sendable {
    var container: CKContainer
    var database: CKDatabase
    var isAutomatic: Bool
    var clock: any Clock<Duration>
    var now: @Sendable () -> Date

    var name: DatabaseName {
      DatabaseName(
        container: container.containerIdentifier ?? "", scope: database.databaseScope.rawValue)
    }
  }

  /// The engine at work, and what is known of its run.
  struct Run: Sendable {
    var engine: CKSyncEngine?
    /// The connection that the engine was made with.
    var connection: Connection?
    /// Retained here, because an engine does not retain its delegate.
    var delegate: EngineDelegate?
    var pending: any PendingChanges
    /// The first fetch, if the engine began without a state; `nil` when a fetch is known to be
    /// complete.
    var firstFetch: FirstFetch?
    /// The zones with records in the store that are read from their beginning.
    var readZones: [CKRecordZone.ID: ZoneRead] = [:]
    /// The number of fetches and sends that are under way.
    var operations = 0
    var engineState = EngineState()
    /// Whether a fetch has to tell what became of a zone.
    var needsFetch = false
    var fetchTask: Task<Void, Never>?
    /// Follows the fetches and sends of the engine itself.
    var statusTask: Task<Void, Never>?
  }

  /// A zone that is read from its beginning.
  struct ZoneRead: Sendable {
    /// The records found so far.
    var records: Set<CKRecord.ID> = []
    /// Whether the read ended; after an expired token the same fetch reads the zone again.
    var hasEnded = false
  }

  /// What is known of the zones before the first complete fetch of an engine without a state.
  struct FirstFetch: Sendable {
    /// The zones that exist.
    var found: Set<CKRecordZone.ID> = []
    /// The zones whose records are read.
    var begun: Set<CKRecordZone.ID> = []
    /// Whether a zone of the items may be missing that no fetch reported as deleted.
    var mayLackZones = true
  }

  /// The engine's state: the one on the disk, and the latest.
  struct EngineState: Sendable {
    var saved: Data?
    /// The latest state, if it was not stored.
    var unsaved: CKSyncEngine.State.Serialization?
    /// The number of updates that were not stored.
    var updates = 0
    /// Whether the store changed what is pending since the state was stored.
    var hasOwnChanges = false
    /// Whether the state whose checksum the items' file has last could not be written.
    var isNotedOnly = false
  }

  /// Names the database to sync with; the store does not sync before ``start()``.
  ///
  /// A store that syncs goes on with the database that it has until it is stopped and started
  /// again. A store stays with one database: ``start()`` throws if its items belong to another.
  ///
  /// - Parameters:
  ///   - container: the app's container.
  ///   - scope: the private database, or the shared one for a zone of another owner.
  ///   - automaticallySync: whether changes are sent and pushes are followed by themselves;
  ///     otherwise ``sync(rounds:)`` does it.
  ///   - clock: measures the engine's waits.
  ///   - now: the date and time, for ``Status/lastSync``.
  public func connect(
    to container: CKContainer, scope: CKDatabase.Scope = .private, automaticallySync: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
  ) {
    state.withLock { state in
      state.connection = Connection(
        container: container, database: container.database(with: scope),
        isAutomatic: automaticallySync, clock: clock, now: now)
    }
  }

  /// Starts to sync; does nothing if the store syncs already.
  ///
  /// - Throws: `FileError` if the engine's state is damaged and the store does not recover;
  ///   ``SyncedStoreError`` if the store is not connected, or its items belong to another container
  ///   or database; the engine's error if its state does. Nothing is changed then.
  public func start() throws {
    try state.withLock { state in
      guard let connection = state.connection else { throw SyncedStoreError.notConnected }
      try start(connection, &state)
    }
  }

  private func start(_ connection: Connection, _ state: inout State) throws {
    try state.checkDatabase(connection.name)
    guard state.run == nil else {
      state.restart = connection
      return
    }
    let saved = try readEngineState(&state)
    // Created under the lock: its first event asks whether it is the current one.
    let delegate = EngineDelegate(self)
    let engine = CKSyncEngine(
      .init(
        connection.database, state: saved, delegate: delegate,
        automaticallySync: connection.isAutomatic, clock: connection.clock))
    if let error = engine.startError { throw error }
    state.connection = connection
    state.table.scope = connection.database.databaseScope
    state.table.settings.database = connection.name
    state.run = Run(
      engine: engine, connection: connection, delegate: delegate, pending: engine.state,
      firstFetch: saved == nil ? FirstFetch() : nil)
    if connection.isAutomatic {
      state.run?.statusTask = engine.follow { [weak self, weak engine] outcome in
        self?.take(outcome, of: engine)
      }
    }
    state.table.readAgain()
    // Without a state the engine tells first whose account it is.
    state.table.effects = ItemTable.Effects(visible: state.table.effects.visible)
    if saved != nil { state.table.sendEverything() }
    state.act()
    state.tellStatus()
  }

  /// Notes the end of a fetch or send that the engine began by itself.
  private func take(_ outcome: CKError?, of engine: CKSyncEngine?) {
    state.withLock { state in
      guard let engine, state.run?.engine === engine, state.syncs == 0 else { return }
      state.failure = outcome
      if outcome == nil, state.table.unsent.isEmpty, let now = state.current?.now {
        state.table.settings.lastSync = now()
      }
      settle(&state)
    }
  }

  /// Starts to sync with the private database of a container, automatically; does nothing if the
  /// store syncs with it already.
  ///
  /// - Throws: as ``start()``.
  public func start(_ container: CKContainer) throws {
    let connection = Connection(
      container: container, database: container.privateCloudDatabase, isAutomatic: true,
      clock: ContinuousClock(), now: { Date() })
    try state.withLock { try start(connection, &$0) }
  }

  /// Starts to sync unless the user turned sync off, or did not decide: for the launch of an app
  /// that has a switch.
  ///
  /// - Throws: as ``start()``.
  public func startIfEnabled() throws {
    if isEnabled == true { try start() }
  }

  /// Whether the user wants sync; `nil` if undecided.
  ///
  /// Kept across launches and accounts.
  public var isEnabled: Bool? { state.withLock { $0.table.settings.isEnabled } }

  /// Turns sync on or off, and stores it; call ``connect(to:scope:automaticallySync:clock:now:)``
  /// before it.
  ///
  /// - Throws: `FileError` if it can't be stored; as ``start()``. A choice to turn sync on is not
  ///   stored then.
  public func setEnabled(_ isEnabled: Bool) throws {
    func choose(_ choice: Bool?) throws {
      try state.withLock { state in
        _ = try state.change { $0.table.settings.isEnabled = choice }
      }
    }
    let before = self.isEnabled
    try choose(isEnabled)
    guard isEnabled else { return try stop() }
    do {
      try start()
    } catch {
      try? choose(before)
      throw error
    }
  }

  /// The engine's state from the disk; none if everything has to be fetched again.
  private func readEngineState(
    _ state: inout State
  ) throws(FileError) -> CKSyncEngine.State.Serialization? {
    guard let data = try stateFile.read() else { return nil }
    do {
      let saved = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
      let checksum = AtomicFile.checksum(data)
      if state.table.settings.states.contains(checksum) {
        // A later one was not written.
        if state.table.settings.states.last != checksum { state.table.settings.states = [checksum] }
        return saved
      }
      // It knows of items that the file of the items has not.
      try stateFile.removeFile()
      return nil
    } catch let error as FileError {
      throw error
    } catch {
      let damage = FileError(
        .understand, stateFile.url,
        "\(reason(ofDecodingError: error)). Nothing was changed; open with recovery to keep a copy "
          + "and fetch everything again.")
      guard state.isRecovering, let copy = try stateFile.setAside() else { throw damage }
      try stateFile.removeFile()
      state.recoveries.append(FileRecovery(damage, copy: copy))
      return nil
    }
  }

  /// Ends the sync and forgets nothing: for an app that quits, or enters the background.
  ///
  /// A store that is started again meanwhile syncs afterwards.
  ///
  /// - Throws: `FileError` if something can't be stored; the next start repeats it. As ``start()``
  ///   if the store can't be started again.
  public func shutDown() async throws {
    let engine = state.withLock { state in
      state.restart = nil
      return state.run?.engine
    }
    await cancelOperations()
    let (task, outcome) = state.withLock { state in
      let outcome = Result { try store(&state) }
      // Another call may have ended the run, and the store may have been started since.
      guard let run = state.run, run.engine === engine else {
        return (nil as Task<Void, Never>?, outcome)
      }
      run.statusTask?.cancel()
      state.run = nil
      defer { state.tellStatus() }
      guard let connection = state.restart.take() else { return (run.statusTask, outcome) }
      return (run.statusTask, Result { try start(connection, &state) }.flatMap { outcome })
    }
    await task?.value
    try outcome.get()
  }

  /// Cancels what is under way; returns when nothing is.
  public func cancelOperations() async {
    let (engine, task) = state.withLock { ($0.run?.engine, $0.run?.fetchTask) }
    task?.cancel()
    await engine?.cancelOperations()
    await task?.value
  }

  /// Ends the sync and forgets the engine's state; the items stay, with their unsent changes.
  ///
  /// The next start fetches everything, and merges it with the items.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func stop() throws {
    let (engine, removed, stored) = state.withLock { state in
      let engine = state.run?.engine
      state.run?.fetchTask?.cancel()
      state.run?.statusTask?.cancel()
      (state.run, state.restart) = (nil, nil)
      state.table.settings.states = []
      defer { state.tellStatus() }
      let stored = Result { () throws(FileError) in try state.flush() }
      // Before another start, which would lose its own state.
      let removed = Result { () throws(FileError) in try stateFile.removeFile() }
      return (engine, removed, stored)
    }
    // Not waited for, and detached, because the caller may be a callback of the engine.
    if let engine { Task.detached { await engine.cancelOperations() } }
    try removed.get()
    try stored.get()
  }

  /// Fetches and sends until nothing is left to do.
  ///
  /// What the server refused before is tried again. More than one round is needed when a conflict
  /// is found by sending.
  ///
  /// - Parameter rounds: the maximum number of rounds.
  /// - Throws: the `CKError` that prevents it, such as `networkUnavailable` or `notAuthenticated`;
  ///   ``SyncedStoreError`` if the store was not started, or changes are left that the server does
  ///   not accept; `FileError` if something can't be stored.
  public func sync(rounds: Int = 12) async throws {
    try state.withLock { state in
      guard state.run != nil else { throw SyncedStoreError.notStarted }
      state.syncs += 1
      state.table.activity.solveAll()
      state.table.attempts = [:]
      state.table.sendEverything()
      state.act()
      state.tellStatus()
    }
    let failure: (any Error)?
    do {
      try await run(rounds)
      failure = nil
    } catch {
      failure = error
    }
    try state.withLock { state in
      state.syncs -= 1
      state.failure = failure as? CKError
      if failure == nil, let now = state.current?.now { state.table.settings.lastSync = now() }
      state.tellStatus()
      try store(&state)
    }
    if let failure { throw failure }
  }

  private func run(_ rounds: Int) async throws {
    var failure: CKError?
    var hasFailed = false
    for _ in 0..<rounds {
      let before = state.withLock { $0.sentCount }
      let fetchFailure = try await outcome { try await fetchChanges() }
      // A zone that can't be read keeps no change from being sent; any other error does.
      if let fetchFailure, fetchFailure.code != .partialFailure { throw fetchFailure }
      let sendFailure = try await outcome { try await sendChanges() }
      failure = sendFailure ?? fetchFailure
      if let failure, failure.isRetried { throw failure }
      let isDone = state.withLock { state in
        state.run?.needsFetch != true && state.run?.pending.isEmpty ?? true
          && state.sentCount == before
      }
      // Once more: a zone that the store does not accept is excluded as soon as it is known.
      if sendFailure == nil, isDone, fetchFailure == nil || hasFailed { break }
      hasFailed = fetchFailure != nil
    }
    if let failure { throw failure.leading }
    let (left, reason) = state.withLock { state in
      (state.table.unsent.count, state.table.activity.problems.first?.message)
    }
    guard left > 0 else { return }
    throw SyncedStoreError(
      .changesLeft,
      "\(left) \(left == 1 ? "change is" : "changes are") not sent yet. "
        + (reason ?? "Sync again later."))
  }

  /// Carries out a fetch or a send of a sync.
  ///
  /// - Returns: the error with which it ended; `nil` for a success.
  private func outcome(of step: () async throws -> Void) async throws -> CKError? {
    do {
      try await step()
      return nil
    } catch let error as CKError {
      if error.code == .notAuthenticated { try await followSignOut() }
      return error
    }
  }

  /// Fetches changes once.
  ///
  /// - Throws: the engine's `CKError`; ``SyncedStoreError`` if the store was not started.
  public func fetchChanges() async throws {
    let engine = try engine()
    let missingZones = state.withLock { $0.table.missingZones }
    try await engine.fetchChanges()
    fetchEnded(of: engine, missing: missingZones)
  }

  /// Follows the success of a fetch; an engine that was started meanwhile has not fetched yet.
  ///
  /// - Parameter missingZones: the zones that were missing when the fetch began. Only these are
  ///   created: for a zone that a send found missing since, the next fetch decides.
  func fetchEnded(of engine: CKSyncEngine, missing missingZones: Set<CKRecordZone.ID>) {
    state.withLock { state in
      guard let run = state.run, run.engine === engine else { return }
      state.run?.needsFetch = false
      state.run?.firstFetch = nil
      // No fetch will finish the reads that are left.
      if state.isIdle { state.run?.readZones = [:] }
      if let first = run.firstFetch { state.table.takeAllZones(first.found) }
      state.table.createMissingZones(among: missingZones)
      settle(&state)
    }
  }

  /// Sends changes once.
  ///
  /// - Parameters:
  ///   - records: the records whose changes are sent, those included that the server refused
  ///     before; `nil` for all that are pending.
  ///   - createsZone: whether to create the store's own zone if it is not known to exist. A save
  ///     does so in any case.
  /// - Throws: the engine's `CKError`: `partialFailure` with an error for each change that was not
  ///   sent, conflicts included, which are resolved already; ``SyncedStoreError`` if the store was
  ///   not started.
  public func sendChanges(
    of records: [CKRecord.ID]? = nil, creatingZone createsZone: Bool = false
  ) async throws {
    let engine = try engine()
    state.withLock { state in
      if createsZone { state.table.saveZoneIfNeeded(zoneID) }
      state.table.effects.touched += records ?? []
      state.act()
    }
    // A scope of records contains their zones, here that of a record that has no change.
    let zone = createsZone ? [Self.shareID(zoneID)] : []
    try await engine.sendChanges(.init(scope: records.map { .recordIDs($0 + zone) } ?? .all))
  }

  /// Gives up the unsent change of an item, such as one that the server refuses, and shows the
  /// server's version again.
  ///
  /// The item is removed if the server does not have it. A change that is made meanwhile stays, and
  /// so does that of an item of another type.
  ///
  /// - Parameters:
  ///   - type: the type of the item.
  ///   - name: the name of the item's record.
  ///   - zone: the zone; `nil` for the store's own.
  /// - Throws: the `CKError` that prevents the server's version from being fetched;
  ///   ``SyncedStoreError`` if the store is not connected; `FileError` if it can't be stored.
  public func revert<Item: SyncedItem>(
    _ type: Item.Type, named name: String, in zone: CKRecordZone.ID? = nil
  ) async throws {
    let id = CKRecord.ID(recordName: name, zoneID: zone ?? zoneID)
    let change = state.withLock { state in
      state.table[id].flatMap { $0.type == Item.recordType ? $0.change : nil }
    }
    let found: CKRecord?
    do {
      found = try await database().record(for: id)
    } catch let error as CKError where error.code.isOfMissingRecord {
      found = nil
    }
    try state.withLock { state in
      guard let change, state.table[id]?.change?.number == change.number else { return }
      if let found, state.table.isOutdated(found) { throw CKError(.serverRecordChanged) }
      state.table.revert(id, to: found)
      settle(&state)
      try state.flush()
    }
  }

  private func engine() throws -> CKSyncEngine {
    guard let engine = state.withLock({ $0.run?.engine }) else {
      throw SyncedStoreError.notStarted
    }
    return engine
  }

  /// Removes an account's items if no account is signed in, also when the engine has not noticed.
  private func followSignOut() async throws {
    let container = state.withLock { $0.current?.container }
    guard let container, try await container.accountStatus() == .noAccount else { return }
    state.withLock { state in
      state.table.takeAccountChange(to: nil)
      settle(&state)
    }
  }
}

extension SyncedStore.State {
  /// Checks that the store may sync with a database.
  ///
  /// Items that no account owns were never sent and may go to any database.
  fileprivate func checkDatabase(_ name: DatabaseName) throws(SyncedStoreError) {
    let stored = table.settings.owner == nil ? nil : table.settings.database
    let known = run?.connection?.name ?? stored
    guard let known, known != name else { return }
    let database = known.container == name.container ? "another database" : known.container
    throw SyncedStoreError(
      .otherDatabase,
      "The items of this store belong to \(database). Open a store in another folder for this one.")
  }

  /// The number of changes that the server accepted.
  fileprivate var sentCount: Int { table.activity.saved + table.activity.deleted }
}

extension PendingChanges {
  var isEmpty: Bool { pendingRecordZoneChanges.isEmpty && pendingDatabaseChanges.isEmpty }
}

extension CKError.Code {
  /// Whether there is no such record, or no zone of it.
  var isOfMissingRecord: Bool {
    self == .unknownItem || self == .zoneNotFound || self == .userDeletedZone
  }

  /// Whether the engine repeats a change that failed with this code by itself.
  var isRetried: Bool {
    switch self {
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .operationCancelled, .zoneBusy, .serverResponseLost,
      .accountTemporarilyUnavailable, .managedAccountRestricted:
      true
    default: false
    }
  }
}

extension CKError {
  /// Whether the engine repeats the request by itself, because the reason passes.
  public var isRetried: Bool {
    guard code == .partialFailure, let items = partialErrorsByItemID, !items.isEmpty
    else { return code.isRetried }
    return items.values.allSatisfy { ($0 as? CKError)?.code.isRetried ?? false }
  }

  /// The error itself, or the error of one item of a partial failure, the same in every run.
  public var leading: CKError {
    guard code == .partialFailure, let items = partialErrorsByItemID else { return self }
    return items.values.compactMap { $0 as? CKError }
      .min { $0.code.rawValue < $1.code.rawValue } ?? self
  }
}
