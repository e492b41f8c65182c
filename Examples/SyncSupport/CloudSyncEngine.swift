public import CloudSync
public import Foundation
import Synchronization

/// Keeps any number of ``SyncedStore``s in step with one zone of one private database.
///
/// It is the ``RecordKeeper`` of a ``RecordSync``. Stores report local changes with `recordChanged`
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
    var metadata: RecordArchive
    var kept: RecordArchive
    var settings: SyncSettings
    /// What was set aside when the engine was made.
    var recoveries: [FileRecovery] = []
    /// Who wants to hear of visible changes.
    var observers: [UUID: AsyncStream<VisibleChange>.Continuation] = [:]
  }

  /// The zone all records are in.
  public let zoneID: CKRecordZone.ID

  /// The engine, its delegate and its state.
  let records: RecordSync
  let stores: [any SyncedStore]
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
    self.stores = stores
    self.records = RecordSync(
      database: database, stateFile: directory.appendingPathComponent("cloud-sync-state.data"),
      automaticallySync: automaticallySync, clock: clock, recovering: isRecovering)
    self.settingsFile = DocumentFile(
      directory.appendingPathComponent("cloud-sync-settings.json"), format: "sync-settings")
    let metadata = try RecordArchive(
      directory.appendingPathComponent("cloud-record-metadata.json"), .systemFields,
      recovering: isRecovering)
    let settings = try settingsFile.read(recovering: isRecovering)
    let kept = try RecordArchive(
      directory.appendingPathComponent("cloud-kept-records.json"), .allFields,
      recovering: isRecovering)
    var opened = State(metadata: metadata, kept: kept, settings: settings.body ?? SyncSettings())
    opened.recoveries = [metadata.recovery, kept.recovery, settings.recovery].compactMap(\.self)
    if kept.recovery != nil {
      try records.stateFile.removeFile()
      try opened.kept.write()
    }
    if settings.recovery != nil {
      // Nobody can say any more whose items these are: the next sign-in will not take them for its
      // own. The new file goes last, so that a crash in between repeats all of it.
      try records.stateFile.removeFile()
      opened.settings.owner = SyncSettings.unknownOwner
      try settingsFile.write(opened.settings)
    }
    self.state = Mutex(opened)
    records.connect(to: self)
    for store in stores { store.connect(to: self) }
  }

  /// Whether the person wants sync; kept across launches.
  public var isEnabled: Bool { state.withLock { $0.settings.isSyncEnabled } }

  /// Whether an engine is at work.
  public var isRunning: Bool { records.isRunning }

  /// What was done so far, and which problems stand.
  public var activity: SyncActivity { records.activity }

  /// The names of the records that a newer version of the app wrote: kept, and not shown.
  public var keptRecordNames: [String] { state.withLock { $0.kept.names } }

  /// The engine's files that were damaged and set aside; the stores' own are theirs to tell.
  public var recoveries: [FileRecovery] {
    state.withLock { $0.recoveries } + (records.recovery.map { [$0] } ?? [])
  }

  /// How many changes the cloud has not confirmed yet.
  public var pendingCount: Int { records.pendingCount }

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
    try records.start()
    records.wish(readKeptRecordsAgain())
  }

  /// Ends syncing and forgets what is known of the cloud; the stores keep their items.
  ///
  /// - Throws: `FileError` when a file can't be removed.
  public func stop() throws {
    try records.stop()
    try records.forgetState()
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
    try await records.shutDown()
  }

  /// Fetches and sends until nothing is left to do: "sync now".
  ///
  /// - Parameter rounds: the most rounds; enough for every conflict to be settled more than once.
  /// - Throws: the `CKError` that stands in the way, such as a missing network, or
  ///   ``SyncPassError`` when changes are left that the cloud does not take.
  public func sync(rounds: Int = 12) async throws {
    _ = try await records.run(rounds)
    try records.checkNothingIsLeft()
  }

  /// New or changed items of one store, to be sent.
  public func recordsChanged(_ ids: [UUID], type: RecordType) {
    guard isRunning, !ids.isEmpty else { return }
    let ids = ids.map { recordID($0) }
    records.forgetFailures(of: ids)
    records.wish(ids.map { .save($0) })
  }

  /// Items of one store that are gone, to be deleted in the cloud.
  public func recordsDeleted(_ ids: [UUID], type: RecordType) {
    records.wish(ids.map { .delete(recordID($0)) })
  }

  /// The record ID of the item `id`.
  public func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zoneID)
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
}
