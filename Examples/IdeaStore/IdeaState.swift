import Foundation
import SyncSupport

/// Everything of a store that changes, guarded by the store's lock; nothing in it waits.
struct IdeaState: Sendable {
  /// The tasks of the next pass, collected from all requests for one.
  struct Wants: Sendable {
    var isAsked = false
    /// Whether to fetch, and not only to send.
    var fetches = false
    /// Whether to compare every name in the cloud.
    var sweeps = false
    /// Whether the user asked: refused changes are then sent again.
    var isByHand = false
    /// Whether something happened, so that the retry plan starts over.
    var isFresh = false
    /// Records a push named.
    var names: Set<String> = []
  }

  // The stored part.
  var shelf = IdeaShelf()
  var settings = IdeaSettings()
  private(set) var log: [IdeaLogEntry] = []
  private var writtenSettings = IdeaSettings()
  /// The number of lines at the end of the log that are not on the disk.
  private var unwrittenLines = 0
  /// The store's one file; a line is a transaction, so that the cost of a change does not
  /// depend on the number of ideas.
  private var journal: Journal<IdeaTransaction>

  // The run.
  let loop: SyncLoop
  /// Whether anything but a person's wish makes a pass happen.
  let isAutomatic: Bool
  let now: @Sendable () -> Date
  var wants = Wants()
  var hasSubscribed = false
  var accounts: AccountObservation?
  /// Counts the moments at which the account may have changed, so that an answer for the old one
  /// is never believed.
  var generation = 0
  /// The changes that the cloud refused, until the idea is edited or synced by hand.
  var refused: [String: UInt64] = [:]
  var plan = RetryPlan(delays: [.seconds(1), .seconds(2), .seconds(4)])

  /// The parts of the status that nothing else contains.
  var activity = IdeaSyncStatus()
  let statuses = Broadcast<IdeaSyncStatus>()

  /// Opens the journal at `url`; a damaged one is set aside.
  init(
    _ url: URL, _ loop: SyncLoop, isAutomatic: Bool, now: @escaping @Sendable () -> Date
  ) throws(FileError) {
    self.loop = loop
    self.isAutomatic = isAutomatic
    self.now = now
    journal = Journal(url, format: "idea-journal")
    do {
      for transaction in try journal.read().changes { replay(transaction) }
      shelf.readAgain(at: now().roundedToMilliseconds)
    } catch  where error.step == .understand {
      guard let aside = try AtomicFile(url).setAside() else { throw error }
      try AtomicFile(url).removeFile()
      let message =
        "The ideas in \(url.lastPathComponent) could not be read. The file was set "
        + "aside as \(aside.lastPathComponent); ideas come back from the cloud, and what was "
        + "not sent yet is only in that file."
      activity.damage = message
      note(.damage, message)
    }
  }

  private mutating func replay(_ transaction: IdeaTransaction) {
    for row in transaction.rows { shelf.adopt(row) }
    for name in transaction.removed { shelf.drop(name) }
    settings = transaction.settings ?? settings
    writtenSettings = settings
    log = (log + transaction.log).suffix(IdeaLogEntry.limit)
  }

  // MARK: Writing

  /// Stores changes of this device, which are then pending, before it applies them.
  ///
  /// - Throws: `FileError` if they can't be written; nothing is changed then.
  mutating func commit(_ changed: [IdeaRow], _ entries: [IdeaLogEntry]) throws(FileError) {
    var transaction = IdeaTransaction(log: log.suffix(unwrittenLines) + entries)
    for var row in changed {
      row.isPending = true
      row.changeNumber = shelf.nextNumber()
      transaction.rows.append(row)
    }
    try journal.append([transaction])
    for row in transaction.rows { shelf.adopt(row) }
    log = (log + entries).suffix(IdeaLogEntry.limit)
    unwrittenLines = 0
    rewriteIfObsolete()
    ask()
    tell()
  }

  /// Writes all changes that are only in memory; after a failure the next call repeats it.
  mutating func flush() {
    var transaction = shelf.unwritten
    transaction.log = log.suffix(unwrittenLines)
    if settings != writtenSettings { transaction.settings = settings }
    guard !transaction.isEmpty else { return }
    do {
      try journal.append([transaction])
      noteWritten()
    } catch {
      note(.failure, "Not written to the disk: \(error).")
    }
    rewriteIfObsolete()
  }

  private mutating func rewriteIfObsolete() {
    guard journal.isMostlyObsolete else { return }
    let everything = IdeaTransaction(
      rows: shelf.rows.values.sorted { $0.name < $1.name }, settings: settings, log: log)
    // A journal that can't be rewritten is long, not wrong.
    guard (try? journal.rewrite([[everything]])) != nil else { return }
    noteWritten()
  }

  private mutating func noteWritten() {
    shelf.noteWritten()
    writtenSettings = settings
    unwrittenLines = 0
  }

  /// Writes a line of the log; it reaches the disk with the next flush.
  mutating func note(
    _ operation: IdeaLogEntry.Operation, _ message: String, ideaID: UUID? = nil
  ) {
    let entry = IdeaLogEntry(date: now(), operation: operation, ideaID: ideaID, message: message)
    log = (log + [entry]).suffix(IdeaLogEntry.limit)
    unwrittenLines += 1
  }

  // MARK: Account

  /// Makes the ideas those of `user`, or of no account.
  ///
  /// Everything of another account is removed first: memory, file, log and damaged files. Ideas
  /// that were made without an account stay, and belong to the next one that signs in.
  mutating func follow(_ user: String?) {
    if let owner = settings.owner, owner != user { wipe() }
    guard let user, settings.owner != user else { return }
    settings.owner = user
    generation += 1
    flush()
  }

  private mutating func wipe() {
    shelf = IdeaShelf()
    settings = IdeaSettings()
    log = []
    noteWritten()
    refused = [:]
    hasSubscribed = false
    wants.names = []
    activity = IdeaSyncStatus(phase: activity.phase, nextAttempt: activity.nextAttempt)
    generation += 1
    do {
      try journal.remove()
    } catch {
      note(.failure, "Not removed from the disk: \(error).")
    }
    note(.account, "The account changed; everything of the old one was removed.")
    tell()
  }

  // MARK: Telling

  /// Asks for a pass because something happened, so that the retry plan starts over.
  ///
  /// - Parameter startsLoop: whether the loop makes the pass; otherwise the caller does.
  mutating func ask(
    fetching: Bool = false, isFresh: Bool = true, startsLoop: Bool = true,
    _ body: (inout Wants) -> Void = { _ in }
  ) {
    wants.isAsked = true
    wants.isFresh = wants.isFresh || isFresh
    wants.fetches = wants.fetches || fetching
    body(&wants)
    if startsLoop, isAutomatic || wants.isByHand { loop.requestRun() }
  }

  var status: IdeaSyncStatus {
    let waiting = shelf.pending.compactMap { shelf[$0] }
    var status = activity
    status.pending = waiting.count
    status.heldBack = waiting.count { !mayGo($0) && !activity.isStorageFull }
    status.unreadable = shelf.unreadable.count
    status.lastSync = settings.lastSync
    return status
  }

  /// Whether a row may be sent now; with full storage only deletions.
  func mayGo(_ row: IdeaRow) -> Bool {
    guard row.isToBeSent, refused[row.name] != row.changeNumber else { return false }
    return row.deletedAt != nil || !activity.isStorageFull
  }

  /// Tells the listeners the present status.
  func tell() { statuses.send(status) }
}
