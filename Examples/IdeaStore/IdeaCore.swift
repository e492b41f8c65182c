import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Everything of a store that changes, behind one lock.
///
/// The store, its timers and the engine's callbacks all come here; whoever holds the lock never
/// waits.
final class IdeaCore: Sendable {
  /// What the next pass has to do, collected from everybody who asked.
  struct Wants: Sendable {
    var isAsked = false
    /// Whether to look for what is new, and not only to send.
    var fetches = false
    /// Whether to compare every name in the cloud.
    var sweeps = false
    /// Whether a person asked: then what was given up is tried again.
    var isByHand = false
    /// Whether something happened, so that the retry plan starts over.
    var isFresh = false
    /// Records a push named.
    var names: Set<String> = []
  }

  /// What the lock guards.
  struct State: Sendable {
    var shelf = IdeaShelf()
    /// The store's one file; a line is a transaction, so that a change costs what it changes and
    /// not what there is.
    var journal: Journal<IdeaTransaction>
    var settings = IdeaSettings()
    var areSettingsWritten = true
    var log: [IdeaLogEntry] = []
    var unwrittenLog: [IdeaLogEntry] = []
    var damage: String?

    // The run.
    var engine: CKSyncEngine?
    var bell: AsyncStream<Void>.Continuation?
    var loop: Task<Void, Never>?
    var retryTimer: Task<Void, Never>?
    var schedule: Task<Void, Never>?
    var wants = Wants()
    var waiters: [CheckedContinuation<IdeaSyncStatus, any Error>] = []
    var hasSubscribed = false
    var accounts: AccountObservation?
    /// How often the account was said to have changed.
    var accountSignals: UInt64 = 0
    /// How often the server was asked who is signed in, and the last question it answered.
    var accountQuestions: UInt64 = 0
    var answeredQuestion: UInt64 = 0
    /// Counts changes of the account, so that an answer for the old one is never believed.
    var epoch: UInt64 = 0

    // What goes when.
    /// Groups of names, each to be one request.
    var groups: [[String]] = []
    /// The number of the change that was last handed out for each name.
    var offered: [String: UInt64] = [:]
    /// What the cloud refused, until it is edited or synced by hand.
    var refused: [String: UInt64] = [:]
    var report = IdeaSendReport()
    var isStorageFull = false
    var plan = RetryPlan(delays: [.seconds(1), .seconds(2), .seconds(4)])

    // Where it stands.
    var phase = IdeaSyncStatus.Phase.waiting
    var code: CKError.Code?
    var message: String?
    var nextAttempt: Duration?
    var conflicts = 0
    var sent = 0
    var received = 0
    let statuses = Broadcast<IdeaSyncStatus>()
  }

  let state: Mutex<State>
  /// Whether anything but a person's wish makes a pass happen.
  let isAutomatic: Bool
  let now: @Sendable () -> Date

  /// Opens the journal at `url`; a damaged one is set aside.
  init(
    _ url: URL, isAutomatic: Bool, now: @escaping @Sendable () -> Date
  ) throws(FileError) {
    self.isAutomatic = isAutomatic
    self.now = now
    var opened = State(journal: Journal(url, format: "idea-journal"))
    do {
      for transaction in try opened.journal.read().changes { Self.replay(transaction, &opened) }
    } catch  where error.step == .understand {
      guard let aside = try AtomicFile(url).setAside() else { throw error }
      try AtomicFile(url).removeFile()
      let message =
        "The ideas in \(url.lastPathComponent) could not be read. The file was set "
        + "aside as \(aside.lastPathComponent); ideas come back from the cloud, and what was "
        + "not sent yet is only in that file."
      opened = State(journal: opened.journal)
      opened.damage = message
      Self.log(.damage, message, at: now(), &opened)
    }
    state = Mutex(opened)
  }

  private static func replay(_ transaction: IdeaTransaction, _ state: inout State) {
    for row in transaction.rows { state.shelf.adopt(row) }
    for name in transaction.removed { state.shelf.drop(name) }
    if let settings = transaction.settings { state.settings = settings }
    state.log = Array((state.log + transaction.log).suffix(IdeaLogEntry.limit))
  }

  // MARK: Writing

  /// Writes a change of this device and only then makes it true.
  ///
  /// - Throws: `FileError` when it can't be written; nothing has changed then.
  func commit(
    _ rows: [IdeaRow], _ entries: [IdeaLogEntry], _ state: inout State
  ) throws(FileError) {
    var transaction = IdeaTransaction()
    transaction.rows = rows
    transaction.log = entries
    try state.journal.append([transaction])
    for row in rows { state.shelf.adopt(row) }
    state.log = Array((state.log + entries).suffix(IdeaLogEntry.limit))
    rewriteWhenWorthIt(&state)
  }

  /// Writes what is only in memory yet; what can't be written stays for the next time.
  func flush(_ state: inout State) {
    var transaction = state.shelf.unwritten
    transaction.log = state.unwrittenLog
    if !state.areSettingsWritten { transaction.settings = state.settings }
    guard !transaction.isEmpty else { return }
    do {
      try state.journal.append([transaction])
      state.shelf.noteWritten()
      state.unwrittenLog = []
      state.areSettingsWritten = true
    } catch {
      log(.failure, "Not written to the disk: \(error).", &state)
    }
    rewriteWhenWorthIt(&state)
  }

  private func rewriteWhenWorthIt(_ state: inout State) {
    guard state.journal.isMostlyObsolete else { return }
    var transaction = IdeaTransaction()
    transaction.rows = state.shelf.rows.values.sorted { $0.name < $1.name }
    transaction.settings = state.settings
    transaction.log = state.log
    // A journal that can't be rewritten is long, not wrong.
    guard (try? state.journal.rewrite([[transaction]])) != nil else { return }
    state.shelf.noteWritten()
    state.unwrittenLog = []
    state.areSettingsWritten = true
  }

  /// Changes the settings, to be written with the next flush.
  func change(_ state: inout State, _ body: (inout IdeaSettings) -> Void) {
    let before = state.settings
    body(&state.settings)
    if state.settings != before { state.areSettingsWritten = false }
  }

  // MARK: Telling

  /// Writes a line of the log; it reaches the disk with the next flush.
  func log(
    _ operation: IdeaLogEntry.Operation, _ message: String, ideaID: UUID? = nil,
    _ state: inout State
  ) {
    Self.log(operation, message, ideaID: ideaID, at: now(), &state)
  }

  private static func log(
    _ operation: IdeaLogEntry.Operation, _ message: String, ideaID: UUID? = nil, at date: Date,
    _ state: inout State
  ) {
    let entry = IdeaLogEntry(date: date, operation: operation, ideaID: ideaID, message: message)
    state.log = Array((state.log + [entry]).suffix(IdeaLogEntry.limit))
    state.unwrittenLog = Array((state.unwrittenLog + [entry]).suffix(IdeaLogEntry.limit))
  }

  /// Asks for a pass because something happened, so that the retry plan starts over.
  func ask(
    _ state: inout State, fetching: Bool = false, isFresh: Bool = true,
    _ body: (inout Wants) -> Void = { _ in }
  ) {
    state.wants.isAsked = true
    state.wants.isFresh = state.wants.isFresh || isFresh
    state.wants.fetches = state.wants.fetches || fetching
    body(&state.wants)
    if isAutomatic || state.wants.isByHand { state.bell?.yield() }
  }
}

extension IdeaCore.State {
  /// Where it stands, for people.
  var status: IdeaSyncStatus {
    let waiting = shelf.pending.compactMap { shelf[$0] }
    return IdeaSyncStatus(
      phase: phase, code: code, message: message, nextAttempt: nextAttempt,
      pending: waiting.count, heldBack: waiting.count { !mayGo($0) && !isStorageFull },
      unreadable: shelf.unreadableCount, isStorageFull: isStorageFull, conflicts: conflicts,
      sent: sent, received: received,
      lastSync: settings.lastSync, damage: damage)
  }

  /// Whether a row may be sent now; with full storage only deletions.
  func mayGo(_ row: IdeaRow) -> Bool {
    guard row.isToBeSent, refused[row.name] != row.changeNumber else { return false }
    return row.deletedAt != nil || !isStorageFull
  }

  /// Tells the listeners where it stands now.
  func tell() { statuses.send(status) }
}

/// What became of one round of sends.
struct IdeaSendReport: Sendable {
  /// How many changes were settled, one way or another.
  var settled = 0
  /// The first error that may pass.
  var passing: CKError?
}
