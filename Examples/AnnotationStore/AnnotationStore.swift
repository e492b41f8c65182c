public import CloudSync
public import Foundation
public import SyncSupport
import Synchronization

/// Layers, annotations and comments on one device, in step with the cloud.
///
/// Local first: every change is on the disk when the call returns, people see it at once, and it is
/// sent with the next ``sync(askedByPerson:)``; an ``AnnotationCoordinator`` calls that every
/// minute. What an account owns lives in a zone of its private database; what others share with it
/// comes over the shared database and is read and, where they allow it, written alike. May be used
/// from any thread.
public final class AnnotationStore: Sendable {
  /// What the lock guards.
  struct State {
    var tables = Tables()
    var journal: Journal<StoreChange>
    var metrics = SyncMetrics()
    /// Whether uploads stand still until a person made space and asks again.
    var isStorageFull = false
    /// Counts the moments at which the account may have changed.
    var generation = 0
    /// The most records in one request, halved when the cloud says that it is too much.
    var batchSize: Int
    /// What was set aside because it was damaged, for a person to see.
    var recovery: FileRecovery?
    var listeners: [UInt64: AsyncStream<[UUID]>.Continuation] = [:]
    var lastListener: UInt64 = 0
  }

  /// What the operating system and the person bring in.
  struct Surroundings: Sendable {
    var clock: any Clock<Duration>
    var now: @Sendable () -> Date
    var makeID: @Sendable () -> UUID
    var mediaLimit: Int
  }

  /// The most records CloudKit takes in one request.
  public static let mostRecordsPerRequest = 400

  let state: Mutex<State>
  let container: CKContainer
  let media: MediaFolder
  let surroundings: Surroundings
  let turns = Turnstile()

  /// Opens the annotations kept in `directory`; nothing is synced yet.
  ///
  /// A damaged file is an error that names it and changes nothing; with recovery it is set aside
  /// instead, and the next sync fetches everything anew. What was not sent is in the copy only.
  /// - Parameters:
  ///   - directory: a folder for this store alone; it is made with the first change.
  ///   - container: the cloud to sync with.
  ///   - batchSize: how many records go in one request, 1 to 400.
  ///   - mediaLimit: the most bytes a file of an annotation may have.
  ///   - isRecovering: whether a damaged file is set aside; ``recovery`` tells where it is then.
  ///   - clock: measures the waits of retries and the durations of syncs.
  ///   - now: the present moment.
  ///   - makeID: makes a new name; must never repeat itself on any device.
  /// - Throws: `FileError` when the file is damaged or can't be read.
  public init(
    directory: URL, container: CKContainer, batchSize: Int = 100,
    mediaLimit: Int = 50 * 1_024 * 1_024, recovering isRecovering: Bool = false,
    clock: any Clock<Duration> = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() },
    makeID: @escaping @Sendable () -> UUID = { UUID() }
  ) throws {
    let url = directory.appendingPathComponent("annotations.journal")
    var journal = Journal<StoreChange>(url, format: "annotations")
    var tables = Tables()
    var recovery: FileRecovery?
    do {
      for change in try journal.read().changes { tables.replay(change) }
    } catch {
      guard error.step == .understand, isRecovering, let copy = try AtomicFile(url).moveAside()
      else { throw error }
      recovery = FileRecovery(error, copy: copy)
      tables = Tables()
    }
    tables.keep()
    var state = State(
      journal: journal, batchSize: min(max(1, batchSize), Self.mostRecordsPerRequest))
    state.tables = tables
    state.recovery = recovery
    self.state = Mutex(state)
    self.container = container
    media = MediaFolder(directory: directory.appendingPathComponent("media"))
    surroundings = Surroundings(clock: clock, now: now, makeID: makeID, mediaLimit: mediaLimit)
    sweepMedia()
  }

  deinit {
    state.withLock { state in
      state.journal.close()
      for listener in state.listeners.values { listener.finish() }
    }
  }

  /// What was set aside when this store was opened, if its file was damaged.
  public var recovery: FileRecovery? { state.withLock { $0.recovery } }

  /// The account everything here belongs to, by its user record's name.
  ///
  /// `nil` before the first sync.
  public var account: String? { state.withLock { $0.tables.settings.owner } }

  /// When the last sync of this account succeeded, here or in an earlier run.
  public var lastSyncTime: Date? { state.withLock { $0.tables.settings.lastSync } }

  /// Figures of what was done so far.
  public var metrics: SyncMetrics { state.withLock { $0.metrics } }

  /// Sets the figures back.
  public func resetMetrics() { state.withLock { $0.metrics.reset() } }

  /// What decides when two devices changed the same field differently; kept across launches.
  public var strategy: ConflictStrategy { state.withLock { $0.tables.settings.strategy } }

  /// Sets what decides about conflicts from now on; those a person has to decide stay with them.
  ///
  /// - Throws: `FileError` when it can't be written down.
  public func setStrategy(_ strategy: ConflictStrategy) throws {
    try transaction { $0.changeSettings { $0.strategy = strategy } }
  }

  /// What changes here because of the cloud, from now on: the IDs of each transaction.
  public func changes() -> AsyncStream<[UUID]> {
    AsyncStream { listener in
      let number = state.withLock { state in
        state.lastListener += 1
        state.listeners[state.lastListener] = listener
        return state.lastListener
      }
      listener.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
    }
  }

  /// Changes the tables, all or nothing: in memory and on the disk, or nowhere.
  ///
  /// - Parameter isNews: whether listeners hear of it: what the cloud did, not the person here.
  /// - Throws: what `body` throws, or `FileError` when the disk refuses.
  @discardableResult
  func transaction<Result: Sendable>(
    isNews: Bool = false, _ body: (inout Tables) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      try Self.transaction(&state, isNews: isNews, body)
    }
  }

  /// The same from inside the lock.
  static func transaction<Result: Sendable>(
    _ state: inout State, isNews: Bool = false, _ body: (inout Tables) throws -> Result
  ) throws -> Result {
    do {
      let result = try body(&state.tables)
      let changes = state.tables.touched()
      if !changes.isEmpty { try state.journal.append(changes) }
      let news = state.tables.touchedItems
      state.tables.keep()
      if isNews, !news.isEmpty { for listener in state.listeners.values { listener.yield(news) } }
      // A journal that can't be made shorter is only long; the next change tries again.
      if state.journal.isMostlyObsolete { try? state.journal.rewrite(state.tables.everything()) }
      return result
    } catch {
      state.tables.rollBack()
      throw error
    }
  }

  /// Removes the files that no item needs any more.
  func sweepMedia() {
    state.withLock { state in
      media.sweep(keeping: Set(state.tables.items.values.flatMap(\.mediaNames)))
    }
  }
}
