public import Foundation
public import SyncSupport
public import SyncedStore
import Synchronization

/// The achievements of a user, on the device and, if the user wants it, in the user's account.
///
/// They are one item of a ``SyncedStore``, which devices merge. Sync is off at first, and while
/// ``isEnabled`` is false nothing leaves the device. May be used from any thread.
public final class AchievementStore: Sendable {
  private let store: SyncedStore
  private let container: CKContainer
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date
  private let failure = Mutex<SyncFailure?>(nil)

  /// Opens the achievements in a directory; nothing is sent before the user turns sync on.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store.
  ///   - container: the container to sync with.
  ///   - automaticallySync: whether changes are sent and pushes are followed without a call.
  ///   - clock: measures the waits between retries.
  ///   - version: the newest version of the record that the app can read.
  ///   - isRecovering: whether damaged files are set aside; ``recoveries`` lists them, and
  ///     everything is fetched again.
  ///   - now: the date and time; it dates unlocked tiers and decides nothing.
  /// - Throws: `FileError` if a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, automaticallySync: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(), version: Int = AchievementRecord.version,
    recovering isRecovering: Bool = false, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    let type = SyncedType(
      AchievementSet.self, merging: AchievementSet.merging,
      reading: { record, _ in AchievementSet(record, version: version) })
    store = try FirstVersionFiles(
      folder: DocumentFolder(directory, recovering: isRecovering)
    ).open(type)
    store.connect(
      to: container, automaticallySync: automaticallySync, clock: clock, now: now)
    self.container = container
    self.clock = clock
    self.now = now
  }

  // MARK: Achievements

  private var all: AchievementSet {
    store.item(named: AchievementRecord.recordName) ?? AchievementSet()
  }

  /// All achievements of this version with the user's progress, in the catalogue's order.
  public var achievements: [TieredAchievement] {
    let set = all
    return AchievementDefinition.all.map { definition in
      set[definition.id] ?? TieredAchievement(id: definition.id, category: definition.category)
    }
  }

  /// All stored achievements, those of other versions included, by ID.
  public var stored: [TieredAchievement] { all.achievements }

  /// The number of unlocked achievements of each category.
  public var summary: [String: Int] { all.summary }

  /// The JSON of all achievements, which has the same bytes on all devices of a user.
  public var canonicalText: String { String(decoding: all.payload, as: UTF8.self) }

  /// The record as the server should have it; `nil` if the device has none or an unsent change.
  public var cloudRecord: CKRecord? {
    let set = all
    guard !set.isEmpty, !isUnsent, newerVersion == nil else { return nil }
    let record = CKRecord(
      recordType: AchievementRecord.recordType, recordID: AchievementRecord.recordID)
    set.copy(to: record)
    return record
  }

  /// Notes that `value` was counted for an achievement, and unlocks the tiers that it reaches.
  ///
  /// Progress never decreases: a smaller value changes nothing.
  ///
  /// - Returns: the achievement after the change.
  /// - Throws: ``AchievementError/unknown`` for an achievement that this version does not have,
  ///   `FileError` if it can't be stored; nothing is changed then.
  @discardableResult
  public func note(progress value: Int, of id: UUID) throws -> TieredAchievement {
    guard let definition = AchievementDefinition.with(id: id) else {
      throw AchievementError.unknown
    }
    let date = now()
    return try store.change { change in
      let before = change.item(AchievementSet.self, named: AchievementRecord.recordName)
      let known = before?[id]?.progress
      var achievement = TieredAchievement(id: id, category: definition.category)
      guard value > 0 || known != nil else { return achievement }
      achievement.progress.currentValue = max(known?.currentValue ?? 0, value)
      let reached = definition.tier(at: achievement.progress.currentValue)
      achievement.progress.currentTier = reached
      for tier in AchievementTier.all where reached.map({ tier <= $0 }) ?? false {
        // A tier that was reached before keeps its date.
        if known?.tierUnlockDates[tier] == nil { achievement.progress.unlock(tier, on: date) }
      }
      var set = before ?? AchievementSet()
      set.insert(achievement.json)
      if before?.hasSameElements(as: set) != true {
        set.touch(date)
        try change.save(set)
      }
      return set[id] ?? achievement
    }
  }

  /// Reports changes of achievements by other devices, from now on.
  public var changes: AsyncStream<SyncedStore.ItemChange> { store.changes }

  /// The damaged files that were set aside.
  public var recoveries: [FileRecovery] { store.recoveries }

  // MARK: Sync

  /// Whether the user wants sync; kept across launches, off at first.
  public var isEnabled: Bool { store.isEnabled == true }

  /// Turns sync on or off; the achievements on the device and on the server stay.
  ///
  /// - Throws: `FileError` if it can't be stored.
  public func setEnabled(_ isEnabled: Bool) throws { try store.setEnabled(isEnabled) }

  /// Starts to sync if the user wants it, without waiting for the result; for the launch.
  public func startIfEnabled() throws { try store.startIfEnabled() }

  /// Syncs if the user wants it; errors that pass are retried after 2, 4 and 8 seconds.
  ///
  /// ``status`` reports a failure.
  public func syncIfEnabled() async {
    guard isEnabled else { return }
    try? await RetryPlan().run(clock: clock, isPassing: RetryPlan.isRetried) { try await pass() }
  }

  /// Fetches, merges and sends once.
  ///
  /// - Throws: `SyncedStoreError` while sync is off, `SyncFailure` with a message for users if the
  ///   account or the server prevents it.
  public func sync() async throws {
    guard isEnabled else {
      throw SyncedStoreError(.notStarted, "Sync is off; turn it on first.")
    }
    do {
      try await pass()
    } catch let error as CKError {
      throw SyncFailure(error)
    }
  }

  /// Ends the sync and forgets nothing: for an app that quits.
  public func shutDown() async throws { try await store.shutDown() }

  private func pass() async throws {
    do {
      try store.start()
      try await container.checkAccount()
      try await store.sync()
      failure.withLock { $0 = nil }
    } catch let error as SyncedStoreError where newerVersion != nil && error.code == .changesLeft {
      failure.withLock { $0 = nil }
    } catch {
      let error = store.refusal(error)
      failure.withLock { $0 = SyncFailure(error) }
      throw error
    }
  }

  private var isUnsent: Bool { store.isUnsent(AchievementRecord.recordName) }

  private var newerVersion: Int? {
    store.unreadableRecord(named: AchievementRecord.recordName).map {
      AchievementRecord.version(of: $0)
    }
  }

  /// The state of the sync.
  public var status: AchievementStatus {
    let (set, status) = (all, store.status)
    return AchievementStatus(
      isEnabled: isEnabled, failure: failure.withLock { $0 }, isUnsent: isUnsent,
      lastSync: status.lastSync, lastUpdated: set.lastUpdated, merges: status.activity.received,
      newerVersion: newerVersion, unreadCount: set.unreadCount,
      notices: status.activity.problems.map(\.message))
  }
}

/// An error of a call of ``AchievementStore``.
public enum AchievementError: Error, Hashable, Sendable, CustomStringConvertible {
  /// This version has no such achievement.
  case unknown

  /// A sentence for users.
  public var description: String {
    "there is no such achievement; `achievements list` shows all there are"
  }
}
