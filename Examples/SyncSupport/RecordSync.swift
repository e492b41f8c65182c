public import CloudSync
public import Foundation
import Synchronization

/// Keeps one ``RecordKeeper`` in step with one database: the private one, or the shared one.
///
/// It wraps `CKSyncEngine` and is its delegate; the keeper decides what anything means. It follows
/// any number of zones, those of other people included. One file: the engine's state. May be used
/// from any thread.
public final class RecordSync: Sendable {
  struct State: Sendable {
    var engine: CKSyncEngine?
    var list: (any PendingChangeList)?
    weak var keeper: (any RecordKeeper)?
    var activity = SyncActivity()
    var unsavedState: CKSyncEngine.State.Serialization?
    /// State updates put off during a running fetch or send.
    var putOff = 0
    /// How many fetches and sends are running.
    var operations = 0
    /// How often in a row a change was sent again, by record.
    var attempts: [CKRecord.ID: Int] = [:]
    /// What each zone that is read from its beginning has shown so far.
    var sweeps: [CKRecordZone.ID: Set<CKRecord.ID>] = [:]
    var beganAnew = false
    var recovery: FileRecovery?
    /// The engine's state as it is on the disk.
    var written: Data?
  }

  /// The database, private or shared.
  public let scope: CKDatabase.Scope

  let state = Mutex(State())
  let stateFile: AtomicFile
  private let database: CKDatabase
  private let automaticallySync: Bool
  private let isRecovering: Bool
  private let clock: any Clock<Duration>

  /// Prepares an engine; nothing is sent before ``start()``.
  ///
  /// - Parameters:
  ///   - database: the private or the shared database of the app's container.
  ///   - stateFile: where the engine's state is kept.
  ///   - keeper: the store, which is not retained; ``connect(to:)`` sets it later.
  ///   - automaticallySync: whether changes go out and pushes are followed without being asked.
  ///   - clock: measures the engine's waits.
  ///   - isRecovering: whether to go on without a state that is damaged.
  public init(
    database: CKDatabase, stateFile: URL, keeper: (any RecordKeeper)? = nil,
    automaticallySync: Bool = true, clock: any Clock<Duration> = ContinuousClock(),
    recovering isRecovering: Bool = false
  ) {
    self.isRecovering = isRecovering
    self.database = database
    self.scope = database.databaseScope
    self.stateFile = AtomicFile(stateFile)
    state.withLock { $0.keeper = keeper }
    self.automaticallySync = automaticallySync
    self.clock = clock
  }

  /// Sets the store.
  public func connect(to keeper: any RecordKeeper) {
    state.withLock { $0.keeper = keeper }
  }

  /// The store; `nil` after its owner released it.
  var keeper: (any RecordKeeper)? { state.withLock { $0.keeper } }

  /// Whether an engine is at work.
  public var isRunning: Bool { state.withLock { $0.list != nil } }

  /// Whether this run began without a state, so that zones may have gone that nobody tells of.
  public var beganAnew: Bool { state.withLock { $0.beganAnew } }

  /// What was set aside because it was damaged, if anything.
  public var recovery: FileRecovery? { state.withLock { $0.recovery } }

  /// What was done so far, and which problems stand.
  public var activity: SyncActivity { state.withLock { $0.activity } }

  /// How many changes wait in the engine.
  public var pendingCount: Int {
    guard let list = state.withLock({ $0.list }) else { return 0 }
    return list.pendingRecordZoneChanges.count + list.pendingDatabaseChanges.count
  }

  /// Creates the engine from its saved state and hands it everything that is not sent yet.
  ///
  /// When the keeper lost its file, the saved state goes, so that everything is fetched again.
  ///
  /// - Throws: `FileError` when the saved state is damaged; with recovery it is set aside instead,
  ///   which ``recovery`` tells, and everything is fetched anew.
  public func start() throws {
    guard !isRunning, let keeper else { return }
    let reading = try stateFile.readEngineState(recovering: isRecovering)
    if let recovery = reading.recovery { state.withLock { $0.recovery = recovery } }
    var saved = reading.state
    if keeper.needsFullFetch {
      try stateFile.removeFile()
      saved = nil
    }
    // The order matters: once the note is gone, so is the state that knew too much.
    keeper.fullFetchIsCertain()
    let list = makeEngine(saved)
    if saved != nil { wish(try keeper.everythingUnsent(in: scope), list) }
  }

  private func makeEngine(
    _ saved: CKSyncEngine.State.Serialization?
  ) -> any PendingChangeList {
    state.withLock { state in
      // Created under the lock: its first event asks whether it is the current one.
      let engine = CKSyncEngine(
        .init(
          database, state: saved, delegate: self, automaticallySync: automaticallySync,
          clock: clock))
      state.engine = engine
      state.list = engine.state
      state.beganAnew = saved == nil
      state.sweeps = [:]
      state.operations = 0
      state.attempts = [:]
      return engine.state
    }
  }

  /// Lets go of the engine without forgetting anything: what an app does when it quits.
  ///
  /// - Throws: `FileError` when something can't be written down.
  public func shutDown() async throws {
    await cancelOperations()
    try writeDown()
    release()
  }

  /// Cancels what is under way; returns when nothing is any more.
  public func cancelOperations() async {
    await state.withLock { $0.engine }?.cancelOperations()
  }

  /// Lets go of the engine, without writing anything down.
  public func release() {
    state.withLock { state in
      state.engine = nil
      state.list = nil
    }
  }

  /// Ends syncing and forgets what the engine knows of the cloud; the keeper keeps its items.
  ///
  /// - Throws: `FileError` when a file can't be removed.
  public func stop() throws {
    let engine = state.withLock { state in
      let engine = state.engine
      state.engine = nil
      state.list = nil
      state.unsavedState = nil
      state.written = nil
      state.operations = 0
      state.attempts = [:]
      state.sweeps = [:]
      return engine
    }
    // Detached, because waiting for it inside one of the engine's callbacks would never end.
    if let engine { Task.detached { await engine.cancelOperations() } }
    try keeper?.writeDown()
    try stateFile.removeFile()
  }

  /// Asks for what the keeper wants sent; without a running engine the next start asks.
  public func wish(_ wishes: [RecordWish]) {
    guard let list = state.withLock({ $0.list }) else { return }
    wish(wishes, list)
  }

  /// Forgets the engine's state on the disk, so that a crash now ends in a full fetch, and with it
  /// damaged ones that were set aside.
  ///
  /// - Throws: `FileError` when a file can't be removed.
  public func forgetState() throws {
    state.withLock { state in
      state.unsavedState = nil
      state.written = nil
    }
    try stateFile.remove()
  }

  func wish(_ wishes: [RecordWish], _ list: any PendingChangeList) {
    var records: [CKSyncEngine.PendingRecordZoneChange] = []
    var zones: [CKSyncEngine.PendingDatabaseChange] = []
    var dropped: [CKSyncEngine.PendingRecordZoneChange] = []
    for wish in wishes {
      switch wish {
      case .save(let id): records.append(.saveRecord(id))
      case .delete(let id): records.append(.deleteRecord(id))
      case .saveZone(let id): zones.append(.saveZone(CKRecordZone(zoneID: id)))
      case .deleteZone(let id): zones.append(.deleteZone(id))
      case .dropZone(let id):
        list.remove(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: id))])
      case .drop(let id): dropped += [.saveRecord(id), .deleteRecord(id)]
      }
    }
    if !dropped.isEmpty { list.remove(pendingRecordZoneChanges: dropped) }
    if !zones.isEmpty { list.add(pendingDatabaseChanges: zones) }
    if !records.isEmpty { list.add(pendingRecordZoneChanges: records) }
  }

  /// Writes the keeper, then the engine's state: the state never knows of something that a crash
  /// could still take from the keeper.
  func writeDown() throws {
    try keeper?.writeDown()
    try state.withLock { state in
      state.putOff = 0
      guard state.list != nil, let serialization = state.unsavedState else { return }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      let data = try encoder.encode(serialization)
      if data != state.written { try stateFile.write(data) }
      state.written = data
      state.unsavedState = nil
      state.activity.solve(stateFile.url.lastPathComponent)
    }
  }

  func writeDownOrTell() {
    do {
      try writeDown()
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  func tell(_ name: String, code: Int, _ message: String) {
    note { $0.note(SyncActivity.Problem(name: name, code: code, message: message)) }
  }

  func note(_ change: (inout SyncActivity) -> Void) {
    state.withLock { change(&$0.activity) }
  }

  /// Forgets the failures of records whose items were changed.
  public func forgetFailures(of ids: [CKRecord.ID]) {
    state.withLock { state in
      for id in ids {
        state.attempts[id] = nil
        state.activity.solve(id.recordName)
      }
    }
  }

  /// Forgets all failures, so that what was given up is tried again.
  public func forgetFailures() {
    state.withLock { state in
      state.activity.solveAll()
      state.attempts = [:]
    }
  }

  /// Forgets what was done for the previous account.
  func resetAccount() {
    state.withLock { state in
      let wipes = state.activity.wipes + 1
      state.activity = SyncActivity()
      state.activity.wipes = wipes
      state.attempts = [:]
      state.sweeps = [:]
    }
  }
}
