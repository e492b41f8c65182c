import AchievementStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport

/// The achievements of a device; sync is off until the user turns it on.
final class AchievementsApp: StoreApp {
  static let name = "achievements"
  static let recordTypes = [AchievementRecord.recordType]

  let store: AchievementStore
  private let place: AppPlace

  init(_ place: AppPlace) throws {
    self.place = place
    store = try AchievementStore(
      directory: place.directory, container: place.container(), automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] { [(store.stored.count, "achievement")] }

  var unsent: Int { store.isEnabled && store.status.isUnsent ? 1 : 0 }

  func start() throws { try store.startIfEnabled() }

  /// Syncs, or reports that sync is off, which is not a failure.
  func sync() async throws -> SyncReport {
    if store.isEnabled {
      do {
        try await store.sync()
      } catch let failure as SyncFailure where failure.code == .notAuthenticated {
        throw place.device.account == nil ? ToolError.noAccount : failure
      }
    }
    return SyncReport(
      status.document,
      store.isEnabled
        ? "achievements: \(unlocked) of \(store.stored.count) unlocked. \(store.status.text)"
        : "achievements: off, nothing leaves this device (stores achievements sync on)")
  }

  func stop() async throws { try await store.shutDown() }

  var seen: RecordTable {
    if let record = store.cloudRecord { return RecordTable([record]) }
    let unsent = [("\(AchievementRecord.recordType)/unsent", store.canonicalText)]
    return RecordTable(store.stored.isEmpty ? [] : unsent)
  }

  var traces: Traces { Traces(names: store.stored.map(\.id.uuidString), texts: []) }

  private var unlocked: Int { store.stored.count(where: \.isUnlocked) }

  /// The state of the sync, as a document and as lines of text.
  var status: SyncReport {
    let status = store.status
    let lines = [
      "sync: \(status.isEnabled ? "on" : "off")", "state: \(status.text)",
      "unlocked: \(unlocked) of \(store.stored.count)",
      lastSyncLine(status.lastSync),
      "last pushed: \(status.lastUpdated.map(timestamp) ?? "never")",
    ]
    return SyncReport(
      [
        "sync": status.isEnabled, "state": status.text, "achievements": store.stored.count,
        "unlocked": unlocked, "unsent": status.isUnsent, "merges": status.merges,
        "lastSync": status.lastSync, "lastUpdated": status.lastUpdated,
        "notices": status.notices,
      ], (lines + status.notices.map(printable)).joined(separator: "\n"))
  }
}

extension Row {
  /// An achievement as it is shown; `nil` if the catalogue does not have it.
  init?(_ achievement: TieredAchievement) {
    guard let definition = AchievementDefinition.with(id: achievement.id) else { return nil }
    let progress = achievement.progress.currentValue
    let tier = achievement.progress.currentTier?.name
    let next = definition.next(after: progress)
    let unlocked = achievement.progress.tierUnlockDates.map { ($0.key.name, $0.value) }
    self.init(
      [
        "name": definition.name, "id": definition.id, "title": definition.title,
        "category": definition.category, "progress": progress, "tier": tier, "next": next,
        "unlocked": Dictionary(unlocked) { max($0, $1) },
      ],
      [
        .init(definition.name), .init(tier ?? "–", tier == nil ? .plain : .green),
        .init(next.map { "\(progress) of \($0)" } ?? "\(progress)"), .init(definition.title),
      ])
  }
}
