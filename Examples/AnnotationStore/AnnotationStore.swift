public import Foundation
public import SyncSupport
import Synchronization

/// Layers, annotations and comments on one device, in sync with the account's other devices.
///
/// Each change is on the disk and visible when the call returns, and is sent by the next
/// ``sync(askedByPerson:)``, which an ``AnnotationCoordinator`` calls every minute. The account's
/// own items are in a zone of its private database; those that others share come from the shared
/// database. May be used from any thread.
public final class AnnotationStore: Sendable {
  struct State {
    var tables = Tables()
    var journal: Journal<StoreChange>
    /// Counts the moments at which the account may have changed.
    var generation = 0
    /// The most records in one request; halved if the server says that it is too much.
    var batchSize: Int
    var recovery: FileRecovery?
  }

  /// The most records that CloudKit accepts in one request.
  public static let mostRecordsPerRequest = 400

  let state: Mutex<State>
  let container: CKContainer
  let media: MediaFolder
  let clock: any Clock<Duration>
  let now: @Sendable () -> Date
  let makeID: @Sendable () -> UUID
  let mediaLimit: Int
  let operations = SerialOperations()
  private let news = Broadcast<[UUID]>()

  /// Opens the annotations in `directory`; nothing is synced yet.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store alone; it is made with the first change.
  ///   - container: the container to sync with.
  ///   - batchSize: the number of records in one request, 1 to 400.
  ///   - mediaLimit: the most bytes that a file of an annotation may have.
  ///   - isRecovering: whether a damaged file is set aside with the files of the annotations, as
  ///     ``recovery`` says; the next sync fetches everything then, and what was not sent is only in
  ///     the copy.
  ///   - clock: measures the waits of retries and the durations of syncs.
  ///   - now: the date and time.
  ///   - makeID: makes a new name; must never repeat itself on any device.
  /// - Throws: `FileError` if the file is damaged or can't be read; it is left as it is.
  public init(
    directory: URL, container: CKContainer, batchSize: Int = 100,
    mediaLimit: Int = 50 * 1_024 * 1_024, recovering isRecovering: Bool = false,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    makeID: @escaping @Sendable () -> UUID = { UUID() }
  ) throws {
    let url = directory.appendingPathComponent("annotations.journal")
    let media = MediaFolder(directory: directory.appendingPathComponent("media"))
    var state = State(
      journal: Journal(url, format: "annotations"),
      batchSize: min(max(1, batchSize), Self.mostRecordsPerRequest))
    do {
      for row in try state.journal.read().changes { state.tables.restore(row) }
    } catch {
      guard error.step == .understand, isRecovering, let copy = try AtomicFile(url).setAside()
      else { throw error }
      try media.setAside(with: copy)
      try AtomicFile(url).removeFile()
      state.recovery = FileRecovery(error, copy: copy)
      state.tables = Tables()
    }
    self.state = Mutex(state)
    self.container = container
    self.media = media
    self.clock = clock
    self.now = now
    self.makeID = makeID
    self.mediaLimit = mediaLimit
    sweepMedia()
  }

  /// The damaged file that was set aside when the store was opened.
  public var recovery: FileRecovery? { state.withLock { $0.recovery } }

  /// The account of all items, by its user record's name; `nil` before the first sync.
  public var account: String? { settings.owner }

  /// The date of the last successful sync of this account, also in an earlier run.
  public var lastSyncTime: Date? { settings.lastSync }

  /// The figures of all syncs since the store was opened.
  public var metrics: SyncMetrics { state.withLock { $0.tables.metrics } }

  /// Sets the figures to 0.
  public func resetMetrics() { state.withLock { $0.tables.metrics.reset() } }

  /// The strategy for conflicts; kept across launches and accounts.
  public var strategy: ConflictStrategy { settings.strategy }

  /// Sets the strategy for later conflicts; those that the user has to decide stay.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func setStrategy(_ strategy: ConflictStrategy) throws {
    try transaction { $0.changeSettings { $0.strategy = strategy } }
  }

  /// The IDs of the items that change because of the server, one group for each transaction.
  public func changes() -> AsyncStream<[UUID]> { news.elements() }

  var settings: StoreSettings { state.withLock { $0.tables.settings } }

  /// Changes the tables, in memory and on the disk, or not at all.
  ///
  /// - Parameter generation: the one in which a sync began, for changes from the server.
  /// - Throws: what `body` throws, `FileError` if the disk refuses, or `PassError` if the account
  ///   may have changed since the sync began.
  @discardableResult
  func transaction<Result: Sendable>(
    in generation: Int? = nil, _ body: (inout Tables) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      guard generation ?? state.generation == state.generation else {
        throw PassError.accountChanged
      }
      let metrics = state.tables.metrics
      do {
        let result = try body(&state.tables)
        let rows = state.tables.changedRows
        if !rows.isEmpty { try state.journal.append(rows) }
        let items = generation == nil ? [] : state.tables.changedItems
        state.tables.keep()
        if !items.isEmpty { news.send(items) }
        // A journal that can't be made shorter is only long; the next change tries again.
        if state.journal.isMostlyObsolete { try? state.journal.rewrite(state.tables.everything) }
        return result
      } catch {
        state.tables.rollBack()
        state.tables.metrics = metrics
        throw error
      }
    }
  }

  /// Removes the files that no item refers to.
  ///
  /// Must not run during a sync, which uses files that no item refers to yet, or any more.
  func sweepMedia() {
    state.withLock { state in
      media.sweep(keeping: Set(state.tables.items.values.flatMap(\.mediaNames)))
    }
  }
}
