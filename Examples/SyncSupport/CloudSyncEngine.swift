public import CloudSync
public import Foundation
import Synchronization

/// Keeps any number of ``SyncedStore``s in step with one zone of one private database.
///
/// It wraps `CKSyncEngine` and is its delegate. Stores report local changes with `recordChanged`
/// and `recordDeleted`; what happens in the cloud reaches them as ``CloudNews``. One engine serves
/// all stores of a zone, because a database is to have one `CKSyncEngine` only.
///
/// Files, in the folder given: `cloud-sync-state.data` (the engine's state as it asks to be
/// saved), `cloud-record-metadata.json` (cached system fields), `cloud-kept-records.json` (records
/// of newer versions of the app) and `cloud-sync-settings.json` (the switch, and whose data this
/// is). May be used from any thread.
public final class CloudSyncEngine: ChangeRecorder {
  /// The type of a store's records.
  public struct RecordType: RawRepresentable, Hashable, Sendable {
    /// The record type's name in the cloud.
    public let rawValue: String

    /// Names a record type.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }
  }

  /// One item that people see otherwise than before, because of the cloud.
  public struct VisibleChange: Hashable, Sendable {
    /// The item.
    public var id: UUID
    /// Its store's type.
    public var type: RecordType
    /// How a conflict about it ended, if there was one.
    public var resolution: Verdict.Resolution?
  }

  struct State: Sendable {
    var engine: CKSyncEngine?
    /// The engine's list of pending changes; there while sync runs.
    var list: (any PendingChangeList)?
    var metadata: SystemFieldsCache
    var kept: KeptRecords
    var settings: SyncSettings
    var activity = SyncActivity()
    /// How often in a row a change was sent again, by record name.
    var attempts: [String: Int] = [:]
    /// The last state update, until it is on the disk.
    var unsavedState: CKSyncEngine.State.Serialization?
    /// State updates put off during a running fetch or send.
    var putOff = 0
    /// How many fetches and sends are running.
    var operations = 0
    /// What was set aside since the engine was made.
    var recoveries: [FileRecovery] = []
    /// What a zone that is read from its beginning has shown so far.
    var sweep: Set<String>?
    /// Who wants to hear of visible changes.
    var observers: [UUID: AsyncStream<VisibleChange>.Continuation] = [:]
  }

  /// The zone all records are in.
  public let zoneID: CKRecordZone.ID

  let database: CKDatabase
  let automaticallySync: Bool
  let clock: any Clock<Duration>
  let stores: [any SyncedStore]
  let isRecovering: Bool
  let stateFile: AtomicFile
  let settingsFile: DocumentFile<SyncSettings>
  let state: Mutex<State>

  /// Prepares an engine; nothing is sent before ``start()``.
  ///
  /// - Parameters:
  ///   - database: the private database of the app's container.
  ///   - directory: where the engine's files are; one folder for each device and app.
  ///   - zoneName: the zone's name.
  ///   - stores: the stores to keep in step; each with a record type of its own.
  ///   - automaticallySync: whether changes go out and pushes are followed without being asked.
  ///   - isRecovering: whether damaged files of the engine are set aside, here and in ``start()``.
  ///   - clock: measures the engine's waits.
  /// - Throws: `FileError` when a file of the engine is damaged; nothing is changed then.
  public init(
    database: CKDatabase, directory: URL, zoneName: String = "ItsypadData",
    stores: [any SyncedStore], automaticallySync: Bool = true,
    recovering isRecovering: Bool = false, clock: any Clock<Duration> = ContinuousClock()
  ) throws {
    self.zoneID = CKRecordZone.ID(zoneName: zoneName, ownerName: CKCurrentUserDefaultName)
    self.database = database
    self.automaticallySync = automaticallySync
    self.clock = clock
    self.stores = stores
    self.isRecovering = isRecovering
    self.stateFile = AtomicFile(directory.appendingPathComponent("cloud-sync-state.data"))
    self.settingsFile = DocumentFile(
      directory.appendingPathComponent("cloud-sync-settings.json"), format: "sync-settings")
    let metadata = try SystemFieldsCache(
      directory.appendingPathComponent("cloud-record-metadata.json"), recovering: isRecovering)
    let settings = try settingsFile.read(recovering: isRecovering)
    let kept = try KeptRecords(
      directory.appendingPathComponent("cloud-kept-records.json"), recovering: isRecovering)
    var opened = State(metadata: metadata, kept: kept, settings: settings.body ?? SyncSettings())
    opened.recoveries = [metadata.recovery, kept.recovery, settings.recovery].compactMap(\.self)
    if kept.recovery != nil {
      try stateFile.removeFile()
      try opened.kept.write()
    }
    if settings.recovery != nil {
      // Nobody can say any more whose items these are: the next sign-in will not take them for its
      // own. The new file goes last, so that a crash in between repeats all of it.
      try stateFile.removeFile()
      opened.settings.owner = SyncSettings.unknownOwner
      try settingsFile.write(opened.settings)
    }
    self.state = Mutex(opened)
    for store in stores { store.connect(to: self) }
  }

  /// Whether the person wants sync; kept across launches.
  public var isEnabled: Bool { state.withLock { $0.settings.isSyncEnabled } }

  /// Whether an engine is at work.
  public var isRunning: Bool { state.withLock { $0.list != nil } }

  /// What was done so far, and which problems stand.
  public var activity: SyncActivity { state.withLock { $0.activity } }

  /// The names of the records that a newer version of the app wrote: kept, and not shown.
  public var keptRecordNames: [String] { state.withLock { $0.kept.names } }

  /// The engine's files that were damaged and set aside; the stores' own are theirs to tell.
  public var recoveries: [FileRecovery] { state.withLock { $0.recoveries } }

  /// How many changes the cloud has not confirmed yet.
  public var pendingCount: Int {
    guard let list = state.withLock({ $0.list }) else { return 0 }
    return list.pendingRecordZoneChanges.count + list.pendingDatabaseChanges.count
  }

  /// What changes in the stores because of the cloud, from now on; for a screen to follow.
  public func visibleChanges() -> AsyncStream<VisibleChange> {
    let (stream, continuation) = AsyncStream<VisibleChange>.makeStream()
    let key = UUID()
    state.withLock { $0.observers[key] = continuation }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.observers.removeValue(forKey: key) }
    }
    return stream
  }

  /// Turns sync on or off, for good: the next launch remembers.
  ///
  /// It remembers off, too, when nobody decided before and sync was off anyway.
  ///
  /// - Throws: `FileError` when the switch can't be written down, or the state can't be read.
  public func setEnabled(_ isEnabled: Bool) throws {
    try changeSettings(isDecided: true) { $0.isSyncEnabled = isEnabled }
    if isEnabled { try start() } else { try stop() }
  }

  /// Starts syncing if the person wants it; to be called at launch.
  public func startIfEnabled() throws {
    if isEnabled { try start() }
  }

  /// Creates the engine from its saved state and hands it everything that is not sent yet.
  ///
  /// The zone is not saved here: that happens on the sign-in event, which an engine without saved
  /// state always delivers, and when the cloud says that the zone is missing.
  ///
  /// When a store lost its file, the saved state goes, so that everything is fetched again.
  ///
  /// - Throws: `FileError` when the saved state is damaged; it is left as it is, unless the engine
  ///   recovers.
  public func start() throws {
    guard !isRunning else { return }
    var saved = try readState()
    if stores.contains(where: { $0.needsFullFetch }) {
      try stateFile.removeFile()
      saved = nil
    }
    // The order matters: once the note is gone, so is the state that knew too much.
    for store in stores { store.fullFetchIsCertain() }
    let configuration = self.configuration(saved)
    let list = state.withLock { state in
      // Created under the lock: its first event asks whether it is the current one.
      let engine = CKSyncEngine(configuration)
      state.engine = engine
      state.list = engine.state
      return engine.state
    }
    readKeptRecordsAgain(list)
    if saved != nil { try handOver(to: list) }
  }

  /// Ends syncing and forgets what is known of the cloud; the stores keep their items.
  ///
  /// - Throws: `FileError` when a file can't be removed.
  public func stop() throws {
    let engine = state.withLock { state in
      let engine = state.engine
      state.engine = nil
      state.list = nil
      state.unsavedState = nil
      state.operations = 0
      state.attempts = [:]
      return engine
    }
    // Detached, because waiting for it inside one of the engine's callbacks would never end.
    if let engine { Task.detached { await engine.cancelOperations() } }
    for store in stores { try store.writeDown() }
    try stateFile.remove()
    try state.withLock { state in
      try state.metadata.clear()
      // The next start fetches all there is, and these among it.
      try state.kept.clear()
    }
  }

  /// Lets go of the engine without forgetting anything: what an app does when it quits.
  ///
  /// - Throws: `FileError` when something can't be written down.
  public func shutDown() async throws {
    let engine = state.withLock { $0.engine }
    await engine?.cancelOperations()
    try writeDown()
    state.withLock { state in
      state.engine = nil
      state.list = nil
    }
  }

  /// New or changed items of one store, to be sent.
  public func recordsChanged(_ ids: [UUID], type: RecordType) {
    guard let list = state.withLock({ $0.list }), !ids.isEmpty else { return }
    state.withLock { state in
      for id in ids {
        state.attempts[id.uuidString] = nil
        state.activity.solve(id.uuidString)
      }
    }
    list.add(pendingRecordZoneChanges: ids.map { .saveRecord(recordID($0)) })
  }

  /// Items of one store that are gone, to be deleted in the cloud.
  public func recordsDeleted(_ ids: [UUID], type: RecordType) {
    guard let list = state.withLock({ $0.list }), !ids.isEmpty else { return }
    list.add(pendingRecordZoneChanges: ids.map { .deleteRecord(recordID($0)) })
  }

  /// The record ID of the item `id`.
  public func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zoneID)
  }

  func store(_ type: String) -> (any SyncedStore)? {
    stores.first { $0.recordType.rawValue == type }
  }

  /// Changes the settings, and writes them down where they are different then.
  ///
  /// - Parameter isDecided: whether to write them down, too, when there is no file yet.
  func changeSettings(isDecided: Bool = false, _ change: (inout SyncSettings) -> Void) throws {
    try state.withLock { state in
      var settings = state.settings
      change(&settings)
      let isNew =
        isDecided && !FileManager.default.fileExists(atPath: settingsFile.file.url.path)
      guard settings != state.settings || isNew else { return }
      try settingsFile.write(settings)
      state.settings = settings
    }
  }

  /// Puts everything the stores owe the cloud on the engine's list.
  func handOver(to list: any PendingChangeList) throws {
    for store in stores {
      let changes = try store.changesToSend()
      list.add(
        pendingRecordZoneChanges: changes.saves.map { .saveRecord(recordID($0)) }
          + changes.deletes.map { .deleteRecord(recordID($0)) })
    }
  }

  private func configuration(
    _ saved: CKSyncEngine.State.Serialization?
  ) -> CKSyncEngine.Configuration {
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: saved, delegate: self)
    configuration.automaticallySync = automaticallySync
    configuration.clock = clock
    return configuration
  }
}
