import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Everything of a store that changes, behind one lock.
///
/// The store itself, the upload queue's timer and the engine's callbacks all come here; whoever
/// holds the lock never calls the engine's waiting methods, and never waits.
final class StoreCore: Sendable {
  /// What the next pass has to do, collected from everybody who asked.
  struct Wants: Sendable {
    /// Whether anybody asked since the last pass began: the bell may ring once more than needed.
    fileprivate(set) var isAsked = false
    /// Whether to fetch too, and not only to send.
    var fetch = false
    /// Whether a person asked: then what was given up is tried again.
    var isManual = false
    /// Whether something new happened, so that the retry plan begins anew.
    var isFresh = false

    init(fetch: Bool = false, isManual: Bool = false, isFresh: Bool = false) {
      self.fetch = fetch
      self.isManual = isManual
      self.isFresh = isFresh
    }
  }

  /// What the lock guards.
  struct State: Sendable {
    var library: ResultLibrary
    var queue: OfflineQueue
    var metadata: RecordArchive
    var kept: RecordArchive
    var settings: ResultSettings

    /// What was set aside since the store was opened.
    var recoveries: [FileRecovery] = []

    // The run.
    weak var sync: RecordSync?
    var uploads: UploadQueue<UUID>?
    var bell: AsyncStream<Void>.Continuation?
    var loop: Task<Void, Never>?
    var retryTimer: Task<Void, Never>?
    var pollTimer: Task<Void, Never>?
    var wants = Wants()
    var waiters: [CheckedContinuation<Void, any Error>] = []
    var isPassing = false
    var hasFetched = false
    var hasSubscribed = false

    // What goes when.
    /// Groups flushed by the upload queue, each to be one batch.
    var groups: [[UUID]] = []
    /// What still waits in the upload queue for company.
    var held: Set<UUID> = []
    /// The number of the change that was last handed out for each item.
    var offered: [UUID: UInt64] = [:]
    /// How often the cloud refused an item in a row.
    var attempts: [UUID: Int] = [:]
    /// What the cloud refused in this pass: it is tried again after a wait, the rest goes on.
    var postponed: Set<UUID> = []
    /// What was given up until a person asks for it or the store starts again.
    var refused: Set<UUID> = []
    var batchLimit = 250
    var isStorageFull = false
    /// Whether the zone is missing and a fetch has to tell why.
    var isZoneLost = false

    // Where it stands.
    var plan = RetryPlan()
    var report = SendReport()
    var syncState = SyncState.syncing
    /// What to tell while offline.
    var offlineMessage: String?
    var conflicts = 0
    var log: [SyncLogEntry] = []
    var listeners: [UUID: AsyncStream<SyncStatus>.Continuation] = [:]

    /// Where it stands, for people.
    var status: SyncStatus {
      var message: String?
      switch syncState {
      case .failed(let failure): message = failure.message
      case .offline: message = offlineMessage
      case .syncing, .synced: break
      }
      return SyncStatus(
        state: syncState, message: message, waiting: queue.count, refused: refused.count,
        isStorageFull: isStorageFull, conflicts: conflicts, lastSync: settings.lastSync)
    }

    /// Tells the listeners where it stands now.
    func tell() {
      for listener in listeners.values { listener.yield(status) }
    }
  }

  let state: Mutex<State>
  let settingsFile: DocumentFile<ResultSettings>
  let now: @Sendable () -> Date

  /// Opens the files in `directory`.
  ///
  /// - Throws: `FileError` when one is damaged or can't be read; nothing is changed then.
  init(
    directory: URL, recovering isRecovering: Bool, now: @escaping @Sendable () -> Date
  ) throws(FileError) {
    func url(_ name: String) -> URL { directory.appendingPathComponent(name) }
    self.now = now
    let stateFile = AtomicFile(Self.stateFile(directory))
    settingsFile = DocumentFile(url("sync-settings.json"), format: "result-settings")
    let settings = try settingsFile.read(recovering: isRecovering)
    var opened = State(
      library: try ResultLibrary(url("results.json"), recovering: isRecovering),
      queue: try OfflineQueue(url("offline-queue.json"), recovering: isRecovering),
      metadata: try RecordArchive(
        url("cloud-record-metadata.json"), .systemFields, recovering: isRecovering),
      kept: try RecordArchive(
        url("cloud-kept-records.json"), .allFields, recovering: isRecovering),
      settings: settings.body ?? ResultSettings())
    opened.recoveries = [
      opened.library.recovery, opened.queue.recovery, opened.metadata.recovery,
      opened.kept.recovery, settings.recovery,
    ].compactMap(\.self)
    if let lastSync = opened.settings.lastSync {
      opened.syncState = .synced(lastSyncDate: lastSync)
    }
    Self.finishWhatACrashLeft(&opened)
    Self.readKeptRecordsAgain(&opened)
    // All reading first: what can't be opened is left as it is, to the last file.
    let engineState = try stateFile.readEngineState(recovering: isRecovering)
    opened.recoveries += [engineState.recovery].compactMap(\.self)
    state = Mutex(opened)
    try goOnWithoutWhatWasLost(stateFile, settingsAreLost: settings.recovery != nil)
  }

  static func stateFile(_ directory: URL) -> URL {
    directory.appendingPathComponent("sync-state.data")
  }

  /// Sees to it that everything is fetched again of which the engine's state knows more than the
  /// other files do, and replaces the damaged files then: a crash in between repeats all of it.
  private func goOnWithoutWhatWasLost(
    _ stateFile: AtomicFile, settingsAreLost: Bool
  ) throws(FileError) {
    try state.withLock { state throws(FileError) in
      // The tags alone are no reason: without them saves meet a conflict once, which settles them.
      let isLost =
        state.library.isNew || state.queue.isNew || state.kept.recovery != nil || settingsAreLost
      if isLost { try stateFile.removeFile() }
      if settingsAreLost {
        // Whose results these are is told by the tags, and without those by nothing.
        if state.metadata.recovery != nil { state.settings.owner = ResultSettings.unknownOwner }
        try settingsFile.write(state.settings)
      }
      guard !state.recoveries.isEmpty else { return }
      try state.queue.write()
      try state.library.write()
      try state.metadata.write()
      try state.kept.write()
    }
  }

  /// Shows what could not be read when it came: the app may have been updated since.
  private static func readKeptRecordsAgain(_ state: inout State) {
    for record in state.kept.records {
      guard let result = GameResult(from: record), state.queue[result.id] == nil else { continue }
      state.library[result.id] = result
      state.metadata.keep(record)
      state.kept.drop(record.recordID.recordName)
    }
  }

  /// The queue is written before the results, so a crash between leaves it one change ahead.
  private static func finishWhatACrashLeft(_ state: inout State) {
    for entry in state.queue.entries {
      switch entry.change {
      case .save: if state.library[entry.id] == nil { state.queue.drop(entry.id) }
      case .delete: state.library[entry.id] = nil
      }
    }
  }

  /// Begins a run with a new engine: everything waiting begins anew with it.
  func beginRun(_ state: inout State) {
    state.groups = []
    state.refused = []
    state.attempts = [:]
    state.hasFetched = false
    state.hasSubscribed = false
    state.isStorageFull = false
    state.isZoneLost = false
    state.plan.reset()
  }

  /// Asks for a pass.
  func ask(_ wants: Wants) {
    state.withLock { ask(wants, &$0) }
  }

  /// Asks for a pass, from inside the lock.
  func ask(_ wants: Wants, _ state: inout State) {
    state.wants.isAsked = true
    state.wants.fetch = state.wants.fetch || wants.fetch
    state.wants.isManual = state.wants.isManual || wants.isManual
    state.wants.isFresh = state.wants.isFresh || wants.isFresh
    state.bell?.yield()
  }

  /// Takes a group the upload queue let go.
  func flushed(_ group: [UUID]) {
    state.withLock { state in
      state.held.subtract(group)
      state.groups.append(group)
      ask(Wants(isFresh: true), &state)
    }
  }

  /// Writes a line of the log; the last 200 are kept.
  func log(_ level: SyncLogEntry.Level, _ message: String, _ state: inout State) {
    state.log.append(SyncLogEntry(date: now(), level: level, message: message))
    if state.log.count > 200 { state.log.removeFirst(state.log.count - 200) }
  }
}
