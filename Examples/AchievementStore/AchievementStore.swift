public import CloudSync
public import Foundation
public import SyncSupport
import Synchronization

/// What a person has reached, kept on the device and, when they want that, in step with the cloud.
///
/// One record for everything: devices pull it, merge, and push what the cloud lacks. Off by
/// default: while ``isEnabled`` is false, nothing leaves the device. May be used from any thread.
public final class AchievementStore: Sendable {
  private let core: AchievementCore
  private let sync: RecordSync
  private let container: CKContainer
  private let clock: any Clock<Duration>
  private let now: @Sendable () -> Date

  /// Opens the achievements kept in `directory`; nothing is sent before the person turns sync on.
  ///
  /// - Parameters:
  ///   - directory: a folder for this store alone.
  ///   - container: the cloud to sync with.
  ///   - automaticallySync: whether changes go out and pushes are followed without being asked.
  ///   - clock: measures the waits between retries.
  ///   - version: the newest version of the record this app understands.
  ///   - isRecovering: whether to set damaged files aside, which ``recoveries`` tells, and to fetch
  ///     what the cloud has again.
  ///   - now: the present moment; it dates unlocked tiers and decides nothing.
  /// - Throws: `FileError` when a file is damaged or can't be read; nothing is changed then.
  public init(
    directory: URL, container: CKContainer, automaticallySync: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(), version: Int = AchievementRecord.version,
    recovering isRecovering: Bool = false, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    core = try AchievementCore(
      directory: directory, version: version, recovering: isRecovering, now: now)
    sync = RecordSync(
      database: container.privateCloudDatabase,
      stateFile: AchievementCore.stateFile(directory), keeper: core,
      automaticallySync: automaticallySync, clock: clock, recovering: isRecovering)
    self.container = container
    self.clock = clock
    self.now = now
  }

  // MARK: Achievements

  /// Every achievement of this version, in the catalogue's order, with the progress there is.
  public var achievements: [TieredAchievement] {
    let set = core.state.withLock { $0.set }
    return AchievementDefinition.all.map { definition in
      set[definition.id] ?? TieredAchievement(id: definition.id, category: definition.category)
    }
  }

  /// Everything this device keeps, achievements of other versions included, by ID.
  public var stored: [TieredAchievement] { core.state.withLock { $0.set.achievements } }

  /// How many unlocked achievements each category has.
  public var summary: [String: Int] { core.state.withLock { $0.set.summary } }

  /// What all devices of a person must agree on, byte for byte.
  public var canonicalText: String {
    String(decoding: core.state.withLock { $0.set.payload }, as: UTF8.self)
  }

  /// The record as the cloud should have it, to be compared with what it has; `nil` while this
  /// device has nothing, or more than the cloud.
  public var cloudRecord: CKRecord? {
    core.state.withLock { state in
      guard !state.set.isEmpty, !state.isUnsent, state.held == nil else { return nil }
      let record = CKRecord(
        recordType: AchievementRecord.recordType, recordID: AchievementRecord.recordID)
      record["version"] = Int64(AchievementRecord.version)
      record["payload"] = state.set.payload
      record["lastUpdated"] = state.lastUpdated
      record["summary"] = state.summary
      return record
    }
  }

  /// Notes that `value` was counted for an achievement.
  ///
  /// Progress never goes down: a smaller value changes nothing. Tiers reached by it are unlocked
  /// now.
  /// - Returns: the achievement as it is then.
  /// - Throws: ``AchievementError/unknown`` for an achievement this version does not have,
  ///   `FileError` when it can't be written down; nothing is changed then.
  @discardableResult
  public func note(progress value: Int, of id: UUID) throws -> TieredAchievement {
    guard let definition = AchievementDefinition.with(id: id) else {
      throw AchievementError.unknown
    }
    let date = now()
    let isChanged = try core.change { set in
      let before = set[id]?.progress
      var achievement = TieredAchievement(id: id, category: definition.category)
      achievement.progress.currentValue = max(before?.currentValue ?? 0, value)
      let tier = definition.tier(at: achievement.progress.currentValue)
      achievement.progress.currentTier = tier
      for known in AchievementTier.all where tier.map({ known <= $0 }) ?? false {
        // A tier that was reached before keeps its date.
        if before?.tierUnlockDates[known] == nil { achievement.progress.unlock(known, on: date) }
      }
      guard value > 0 || before != nil else { return }
      set.insert(achievement)
    }
    if isChanged { sync.wish(core.everythingUnsent(in: .private)) }
    return core.state.withLock { $0.set[id] }
      ?? TieredAchievement(id: id, category: definition.category)
  }

  /// Says when achievements changed, here or through the cloud, from now on.
  public var changes: AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      let id = UUID()
      listener.onTermination = { [weak core] _ in
        core?.state.withLock { $0.listeners[id] = nil }
      }
      core.state.withLock { $0.listeners[id] = listener }
    }
  }

  /// What was set aside because it was damaged.
  public var recoveries: [FileRecovery] {
    core.state.withLock { $0.recoveries } + (sync.recovery.map { [$0] } ?? [])
  }

  // MARK: Sync

  /// Whether the person wants achievements in the cloud; kept across launches, off at first.
  public var isEnabled: Bool { core.state.withLock { $0.settings.isEnabled } }

  /// Turns sync on or off.
  ///
  /// What is in the cloud stays there, what is here stays here.
  ///
  /// - Throws: `FileError` when it can't be written down.
  public func setEnabled(_ isEnabled: Bool) throws {
    try core.changeSettings { $0.isEnabled = isEnabled }
    if isEnabled { try sync.start() } else { try sync.stop() }
  }

  /// Starts sync when the person wants it, without waiting for a pass; to be called at launch.
  public func startIfEnabled() throws {
    if isEnabled { try sync.start() }
  }

  /// What an app does at launch: pulls and pushes when the person wants that, trying again after
  /// 2, 4 and 8 seconds what passes by itself.
  ///
  /// A failure disturbs nobody: ``status`` tells it.
  public func syncIfEnabled() async {
    guard isEnabled else { return }
    try? await RetryPlan().run(clock: clock, isPassing: RetryPlan.isRetried) { try await pass() }
  }

  /// Pulls, merges and pushes once.
  ///
  /// - Throws: `SyncPassError.isOff` while sync is off, `SyncFailure` with words for people when
  ///   the account or the cloud stands in the way.
  public func sync() async throws {
    guard isEnabled else { throw SyncPassError.isOff }
    do {
      try await pass()
    } catch let error as CKError {
      throw SyncFailure(error)
    }
  }

  /// Lets go of the engine without forgetting anything: what an app does when it quits.
  public func shutDown() async throws {
    try await sync.shutDown()
  }

  private func pass() async throws {
    do {
      try sync.start()
      try await RecordSync.checkAccount(of: container, [sync])
      try await sync.sync()
      core.state.withLock { $0.failure = nil }
      let date = now()
      try core.changeSettings { $0.lastSync = date }
    } catch {
      core.state.withLock { $0.failure = SyncFailure(error) }
      throw error
    }
  }

  /// Where sync stands.
  public var status: AchievementStatus {
    let problem = sync.activity.problems.first?.message
    return core.state.withLock { state in
      AchievementStatus(
        isEnabled: state.settings.isEnabled, failure: state.failure,
        isUnsent: state.isUnsent, lastSync: state.settings.lastSync,
        lastUpdated: state.lastUpdated, merges: state.merges,
        newerVersion: state.held?.version, unreadCount: state.set.unreadCount,
        notices: state.notices + (problem.map { [$0] } ?? []))
    }
  }
}

/// Why a call could not be carried out.
public enum AchievementError: Error, Hashable, Sendable, CustomStringConvertible {
  /// This version has no such achievement.
  case unknown

  /// One sentence for people.
  public var description: String {
    "there is no such achievement; `achievements list` shows all there are"
  }
}
