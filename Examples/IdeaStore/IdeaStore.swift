public import Foundation
public import SyncSupport
import Synchronization

/// Ideas on one device, in step with the cloud.
///
/// Local first: every change is on the disk when the call returns, and is sent when that is
/// possible. The records live in the default zone, which has no change feed, so what is new is
/// found by queries. May be used from any thread.
public final class IdeaStore: Sendable {
  /// The container of the app the design describes.
  public static let containerIdentifier = "iCloud.com.buildwithharry.IdeaBox"

  /// The subscription whose pushes name the ideas that changed.
  public static let subscriptionID = "idea-changes"

  /// How often the store looks without being asked, and how sure it wants to be.
  public struct Timing: Hashable, Sendable {
    /// How long after a sync the next one is due.
    public var schedule: Duration
    /// How long after all names were compared they are compared again.
    public var sweep: Duration
    /// How far behind the latest known change a query begins, for what the server's index shows
    /// late.
    public var overlap: Duration

    /// The usual times: five minutes, an hour, a minute.
    public init(
      schedule: Duration = .seconds(300), sweep: Duration = .seconds(3_600),
      overlap: Duration = .seconds(60)
    ) {
      self.schedule = schedule
      self.sweep = sweep
      self.overlap = overlap
    }
  }

  let state: Mutex<IdeaState>
  let loop: SyncLoop
  let operations = SerialOperations()
  let container: CKContainer
  let deviceID: String
  let timing: Timing
  let isAutomatic: Bool
  let now: @Sendable () -> Date
  let makeID: @Sendable () -> UUID
  let notificationCenter: NotificationCenter

  /// Opens the ideas kept in `directory`; nothing is synced before ``start()``.
  ///
  /// A damaged file is set aside under another name, which ``status`` tells; the ideas come back
  /// from the cloud.
  /// - Parameters:
  ///   - directory: a folder for this store alone; it is made with the first change.
  ///   - container: the cloud to sync with.
  ///   - deviceID: names this device, the same at every start; not empty.
  ///   - clock: measures all waits.
  ///   - timing: how often the store looks by itself.
  ///   - automaticallySync: whether triggers, retries and the schedule sync by themselves; without
  ///     it only ``syncNow()`` does, and no pushes are asked for.
  ///   - makeID: names new ideas.
  ///   - now: the present moment.
  ///   - notificationCenter: where the container posts that the account changed.
  /// - Throws: `IdeaError.deviceIdIsEmpty`, and `FileError` when the file can't be read or is of a
  ///   newer version; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, deviceID: String,
    clock: any Clock<Duration> = ContinuousClock(), timing: Timing = Timing(),
    automaticallySync: Bool = true, makeID: @escaping @Sendable () -> UUID = { UUID() },
    now: @escaping @Sendable () -> Date = { Date() },
    notificationCenter: NotificationCenter = .default
  ) throws {
    guard !deviceID.isEmpty else { throw IdeaError.deviceIdIsEmpty }
    loop = SyncLoop(clock: clock)
    state = Mutex(
      try IdeaState(
        directory.appendingPathComponent("ideas.journal"), loop, isAutomatic: automaticallySync,
        now: now))
    self.container = container
    self.deviceID = deviceID
    self.timing = timing
    isAutomatic = automaticallySync
    self.now = now
    self.makeID = makeID
    self.notificationCenter = notificationCenter
  }

  // MARK: Reading

  /// All ideas, last changed first; those of the same moment by ID, so that every device agrees.
  public var ideas: [Idea] {
    state.withLock { state in
      state.shelf.rows.values.filter(\.isVisible).compactMap(\.idea)
    }.sorted(by: Idea.isListedBefore)
  }

  /// The idea with an ID; `nil` when there is none.
  public func idea(_ id: UUID) -> Idea? {
    state.withLock { state in
      guard let row = state.shelf[id.uuidString], row.isVisible else { return nil }
      return row.idea
    }
  }

  /// The deleted ideas, which stay on the device marked, and when each was deleted; the last first.
  public var deletedIdeas: [(idea: Idea, deletedAt: Date)] {
    state.withLock { state in
      state.shelf.rows.values.compactMap { row in
        guard let idea = row.idea, let deletedAt = row.deletedAt else { return nil }
        return (idea, deletedAt)
      }
    }.sorted { first, second in
      first.1 == second.1
        ? Idea.isListedBefore(first.0, second.0) : first.1 > second.1
    }
  }

  /// How an idea stands with the cloud; `nil` when there is no such idea.
  public func syncState(of id: UUID) -> IdeaSyncState? {
    state.withLock { $0.shelf[id.uuidString]?.state }
  }

  /// What people see, to the byte and in an order all devices share: one line an idea.
  public var canonicalText: String { ideas.map { $0.canonicalText + "\n" }.joined() }

  /// Where sync stands.
  public var status: IdeaSyncStatus { state.withLock { $0.status } }

  /// Where sync stands now, and again whenever ideas or sync change.
  public var statusUpdates: AsyncStream<IdeaSyncStatus> {
    state.withLock { $0.statuses.elements(.bufferingNewest(64), startingWith: $0.status) }
  }

  /// The last 200 lines of the sync log, oldest first, those of earlier runs too.
  public var log: [IdeaLogEntry] { state.withLock { $0.log } }
}
