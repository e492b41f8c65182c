public import Foundation
import SyncSupport
import Synchronization

extension GameResultStore {
  /// Work for the next pass of sync, collected from all requests.
  struct Wants: OptionSet, Sendable {
    let rawValue: Int

    /// To send, which every pass does.
    static let send = Wants(rawValue: 1)
    /// To fetch, in addition to sending.
    static let fetch = Wants(rawValue: 2)
    /// To send refused changes again, because the user asked.
    static let manual = Wants(rawValue: 4)
    /// To begin the retry plan again, because something new happened.
    static let fresh = Wants(rawValue: 8)
  }

  /// What was known of the synced store when it was last looked at.
  struct Observation: Sendable {
    let status: SyncedStore.Status
    let kept: Set<String>

    init(_ store: SyncedStore) {
      status = store.status
      kept = Set(store.unreadableNames)
    }

    /// The reason why the engine's state can't be stored.
    var fileProblem: String? {
      let problems = status.activity.problems
      return problems.first { $0.code == nil && $0.name == FirstVersionFiles.state }?.message
    }
  }

  /// Everything that the store knows besides its results.
  struct State: Sendable {
    let store: SyncedStore
    let loop: SyncLoop

    // The run.
    var uploads: UploadQueue<CKRecord.ID>?
    var observation: Task<Void, Never>?
    var wants: Wants = []
    var waiters: [CheckedContinuation<SyncState, any Error>] = []
    var isPassing = false
    /// Whether no fetch is needed before the next send.
    var hasFetched = false
    var hasSubscribed = false

    // What is sent when.
    /// Groups from the upload queue, each to be one request.
    var groups: [[CKRecord.ID]] = []
    /// Changes that are in the upload queue.
    var held: Set<CKRecord.ID> = []
    /// The number of times in a row that the server refused a change.
    var attempts: [CKRecord.ID: Int] = [:]
    /// The changes that the server refused in this pass; they are sent again after a wait.
    var postponed: Set<CKRecord.ID> = []
    /// The changes that were given up until the user asks for a sync or the store starts again.
    var refused: Set<CKRecord.ID> = []
    var isStorageFull = false
    var plan = RetryPlan()

    // What the user sees.
    var syncState = SyncState.syncing {
      didSet { failure = nil }
    }
    /// The failure that is shown, if the state is failed or offline.
    var failure: SyncFailure?
    var log: [SyncLogEntry] = []
    var observed: Observation
    /// The number of conflicts of the account in which both versions were different.
    var conflicts = 0
    let statuses = Broadcast<SyncStatus>()

    init(_ store: SyncedStore, _ loop: SyncLoop) {
      self.store = store
      self.loop = loop
      observed = Observation(store)
      if let lastSync = store.lastSync { syncState = .synced(lastSyncDate: lastSync) }
    }

    var status: SyncStatus {
      let status = store.status
      return SyncStatus(
        state: syncState, message: failure?.message, waiting: status.unsentCount,
        refused: refused.count, isStorageFull: isStorageFull, conflicts: conflicts,
        lastSync: store.lastSync)
    }

    /// Shows why a pass did not succeed.
    mutating func show(_ failure: SyncFailure) {
      syncState = SyncFailure.meansOffline(failure.code) ? .offline : .failed(failure)
      self.failure = failure
    }

    /// Gives the listeners the present status.
    func tell() { statuses.send(status) }

    /// Notes changes that are about to enter the upload queue.
    mutating func hold(_ ids: [CKRecord.ID]) {
      held.formUnion(ids)
      for id in ids { attempts[id] = nil }
      refused.subtract(ids)
    }

    /// Asks for a pass.
    mutating func ask(_ new: Wants) {
      wants.formUnion(new)
      loop.requestRun()
    }

    /// Starts a run with a new engine.
    mutating func beginRun() {
      groups = []
      retryRefused()
      hasFetched = false
      hasSubscribed = false
      plan.reset()
    }

    /// Allows what the server refused to be sent again.
    mutating func retryRefused() {
      refused = []
      attempts = [:]
      isStorageFull = false
    }

    /// Writes a line of the log; the last 200 are kept.
    mutating func note(_ level: SyncLogEntry.Level, _ message: String, at date: Date) {
      log.append(SyncLogEntry(date: date, level: level, message: message))
      if log.count > 200 { log.removeFirst(log.count - 200) }
    }
  }

  // MARK: Status

  /// The state of the sync.
  public var status: SyncStatus { state.withLock { $0.status } }

  /// The state of the sync now, and whenever a sync begins or ends or the account changes.
  public var statusUpdates: AsyncStream<SyncStatus> {
    state.withLock { $0.statuses.elements(startingWith: $0.status) }
  }

  /// The last 200 lines of the log, oldest first.
  public var log: [SyncLogEntry] { state.withLock { $0.log } }

  // MARK: Changes of the synced store

  /// Follows what happened in the synced store since the last call: accounts, the zone, conflicts
  /// and records that can't be read.
  func follow() {
    state.withLock { follow(&$0) }
  }

  func follow(_ state: inout State) {
    let before = state.observed
    let new = Observation(store)
    state.observed = new
    if !new.status.hasZone { state.hasSubscribed = false }
    let isWiped = new.status.activity.wipes != before.status.activity.wipes
    if isWiped { forgetAccount(&state) } else { note(new, after: before, &state) }
    guard isWiped || new.status.account != before.status.account else { return }
    if new.status.account == nil {
      state.show(SyncFailure(.notAuthenticated, isRetrying: false))
    } else {
      if isWiped { state.syncState = .syncing }
      // A first sign-in during a pass changes nothing: its operations have waited for the answer.
      if isWiped || !state.isPassing { state.ask([.fetch, .fresh]) }
    }
    state.tell()
  }

  private func forgetAccount(_ state: inout State) {
    state.uploads?.takeAll()
    state.held = []
    state.postponed = []
    state.beginRun()
    state.log = []
    state.conflicts = 0
    state.note(
      .info, "The account changed; everything of the old one was removed.", at: now())
  }

  private func note(_ new: Observation, after old: Observation, _ state: inout State) {
    for name in new.kept.subtracting(old.kept).sorted() {
      let reason = GameResult.problem(of: store.unreadableRecord(named: name))
      state.note(
        .warning, "The record \(name) was left alone and is kept: \(reason).", at: now())
    }
    for conflict in new.status.activity.conflicts(since: old.status.activity)
    where conflict.resolution != .equal {
      state.conflicts += 1
      state.note(
        .warning, "Conflict for result \(conflict.name), using server version.", at: now())
    }
    if old.status.hasZone, !new.status.hasZone {
      let isEmpty = store.items(GameResult.self).isEmpty
      state.note(
        .warning,
        isEmpty
          ? "The results were removed on the server, and here too."
          : "The zone was missing; it is created again, with all results.", at: now())
    }
    if let problem = new.fileProblem, problem != old.fileProblem {
      state.note(.error, "Not saved: \(problem). It is tried again.", at: now())
    }
  }
}

extension SyncedStore {
  /// When the last sync of this account succeeded, in this or an earlier run.
  var lastSync: Date? {
    property(FirstVersionFiles.lastSync).flatMap { Double($0) }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

/// A line of the store's log; it names results by their IDs and contains nothing of them.
public struct SyncLogEntry: Hashable, Sendable {
  /// The severity of a line.
  public enum Level: String, Hashable, Sendable {
    /// An event.
    case info
    /// A problem that was settled, but maybe not as the user wishes.
    case warning
    /// A problem that is not settled.
    case error
  }

  /// When it happened.
  public var date: Date
  /// The severity.
  public var level: Level
  /// The event, in one sentence.
  public var message: String
}
