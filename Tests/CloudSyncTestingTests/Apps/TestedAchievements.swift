import AchievementStore
import CloudSyncTesting

/// Progress of achievements, which only grows: a count tells both the item and its version.
final class TestedAchievements: ConformingApp {
  /// The suite's items, in an order in which no eight that meet share an achievement.
  private static let names = [
    "a", "b", "c", "x", "bystander", "made elsewhere", "made later", "old", "before", "new", "sent",
    "unsent", "stays", "early",
  ]

  private let store: AchievementStore

  init(_ surroundings: AppSurroundings) throws {
    store = try AchievementStore(
      directory: surroundings.folder, container: surroundings.container, automaticallySync: false,
      clock: surroundings.clock, now: { surroundings.now })
    try store.setEnabled(true)
  }

  var items: [String: String] {
    var items: [String: String] = [:]
    for achievement in store.achievements where achievement.progress.currentValue > 0 {
      let count = achievement.progress.currentValue
      items[Self.names[count / 10]] = "\(count % 10 - 1)"
    }
    return items
  }

  func write(_ text: String, as name: String) throws {
    guard let version = Int(text), let place = Self.names.firstIndex(of: name) else {
      throw AchievementError.unknown
    }
    let all = AchievementDefinition.all
    try store.note(progress: place * 10 + version + 1, of: all[place % all.count].id)
  }

  func delete(_ name: String) throws { throw AchievementError.unknown }

  func sync() async throws { try await store.sync() }
}
