import AchievementStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport

/// What a person has reached, with sync that is off until they turn it on.
final class AchievementsApp: StoreApp {
  static let name = "achievements"
  static let recordTypes = [AchievementRecord.recordType]

  let store: AchievementStore
  private let account: String?

  init(_ place: AppPlace) throws {
    account = place.device.account
    store = try AchievementStore(
      directory: place.directory, container: place.device.link().container,
      automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] { [(store.stored.count, "achievement")] }

  var unsent: Int { store.isEnabled && store.status.isUnsent ? 1 : 0 }

  func start() throws { try store.startIfEnabled() }

  /// Syncs, or says that sync is off, which is no failure: nobody asked for it yet.
  func sync() async throws -> any SyncReport {
    guard store.isEnabled else { return AchievementStatusDocument(store) }
    do {
      try await store.sync()
    } catch let failure as SyncFailure where failure.code == .notAuthenticated && account == nil {
      throw ToolError("no account is signed in on this device; run: stores account switch NAME")
    }
    return AchievementStatusDocument(store)
  }

  func stop() async throws { try await store.shutDown() }

  func seen() -> RecordTable {
    var table = RecordTable()
    if let record = store.cloudRecord {
      table.add(record)
    } else if !store.stored.isEmpty {
      table.add("\(AchievementRecord.recordType)/unsent", store.canonicalText.utf8)
    }
    return table
  }

  var traces: Traces { Traces(names: store.stored.map(\.text), texts: []) }
}

/// An achievement as `--json` shows it.
struct AchievementDocument: Encodable {
  var name: String
  var id: UUID
  var title: String
  var category: String
  var progress: Int
  var tier: String?
  var next: Int?
  var unlocked: [String: Date]

  init?(_ achievement: TieredAchievement) {
    guard let definition = AchievementDefinition.with(id: achievement.id) else { return nil }
    name = definition.name
    id = definition.id
    title = definition.title
    category = definition.category
    progress = achievement.progress.currentValue
    tier = achievement.progress.currentTier?.name
    next = definition.next(after: progress)
    unlocked = Dictionary(
      achievement.progress.tierUnlockDates.map { ($0.key.name, $0.value) }
    ) { max($0, $1) }
  }

  /// One line for people.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init(name), .init(tier ?? "–", tier == nil ? .plain : .green),
      .init(next.map { "\(progress) of \($0)" } ?? "\(progress)"), .init(title),
    ]
  }
}

/// Where the sync of achievements stands, as `--json` shows it.
struct AchievementStatusDocument: SyncReport {
  var sync: Bool
  var state: String
  var achievements: Int
  var unlocked: Int
  var unsent: Bool
  var merges: Int
  var lastSync: Date?
  var lastUpdated: Date?
  var notices: [String]

  init(_ store: AchievementStore) {
    let status = store.status
    sync = status.isEnabled
    state = status.text
    achievements = store.stored.count
    unlocked = store.stored.filter(\.isUnlocked).count
    unsent = status.isUnsent
    merges = status.merges
    lastSync = status.lastSync
    lastUpdated = status.lastUpdated
    notices = status.notices
  }

  /// One line for people, after a sync.
  var words: String {
    sync
      ? "achievements: \(unlocked) of \(achievements) unlocked. \(state)"
      : "achievements: off, nothing leaves this device (stores achievements sync on)"
  }
}
