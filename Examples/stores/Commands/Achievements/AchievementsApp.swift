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

  /// Notes the progress of the achievement called `name`.
  @discardableResult
  func earn(_ name: String, _ value: Int) throws -> TieredAchievement {
    guard let definition = AchievementDefinition.named(name) else {
      throw ToolError(
        "there is no achievement \(quoted(name)); there are "
          + AchievementDefinition.all.map(\.name).joined(separator: ", "),
        code: ExitCode.unknownName)
    }
    return try store.note(progress: value, of: definition.id)
  }

  private var unlocked: Int { store.stored.count(where: \.isUnlocked) }

  var status: SyncReport {
    let status = store.status
    let updated = status.lastUpdated.map(timestamp) ?? "never"
    return SyncReport([
      ("sync", status.isEnabled, "sync: \(status.isEnabled ? "on" : "off")"),
      ("state", status.text, "state: \(status.text)"),
      ("achievements", store.stored.count, nil),
      ("unlocked", unlocked, "unlocked: \(unlocked) of \(store.stored.count)"),
      ("unsent", status.isUnsent, nil),
      ("merges", status.merges, nil),
      ("lastSync", status.lastSync, lastSyncLine(status.lastSync)),
      ("lastUpdated", status.lastUpdated, "last pushed: \(updated)"),
      (
        "notices", status.notices,
        status.notices.isEmpty ? nil : status.notices.map(printable).joined(separator: "\n")
      ),
    ])
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
