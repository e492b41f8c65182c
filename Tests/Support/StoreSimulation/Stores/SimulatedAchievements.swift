import AchievementStore
import Foundation
import SimulationSupport

extension SimulatedStore {
  /// Achievements: one record for all, merged by the higher progress, the higher tier and the later
  /// date for each tier; nothing is ever removed.
  static func achievements(_ device: DeviceSetting) throws -> SimulatedStore {
    let store = try AchievementStore(
      directory: device.folder, container: device.container,
      automaticallySync: device.isAutomatic, clock: device.clock, now: device.now)
    try store.setEnabled(true)
    return SimulatedStore(
      app: store,
      items: { store.stored.map { ($0.id.uuidString, AchievementLine($0).text) } },
      canonicalText: { store.canonicalText },
      waitingCount: { store.status.isUnsent ? 1 : 0 },
      isWaiting: { _ in store.status.isUnsent },
      edit: { random in try edit(store, &random) },
      sync: { try? await store.sync() },
      quit: { try? await store.shutDown() })
  }

  private static func edit(
    _ store: AchievementStore, _ random: inout SeededRandom
  ) throws -> [StoreEdit] {
    let definition = random.pick(Array(AchievementDefinition.all.prefix(4)))
    let before = store.stored.first { $0.id == definition.id }?.progress.currentValue ?? 0
    // Mostly a step ahead, sometimes a leap, sometimes less than there is.
    let value = random.below(5) == 0 ? random.below(600) : before + random.below(12)
    guard value > 0 else { return [] }
    let after = try store.note(progress: value, of: definition.id)
    return [.wrote(key: after.id.uuidString, line: AchievementLine(after).text)]
  }
}

/// An achievement, and the seed's merge rule, written once more; a line is its JSON.
struct AchievementLine: Codable, Hashable {
  var value = 0
  var tier = 0
  /// The second at which each tier was reached.
  var dates: [Int: Int] = [:]

  init() {}

  init(_ achievement: TieredAchievement) {
    value = achievement.progress.currentValue
    tier = achievement.progress.currentTier?.rawValue ?? 0
    for (tier, date) in achievement.progress.tierUnlockDates {
      dates[tier.rawValue] = Int(date.timeIntervalSinceReferenceDate)
    }
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "no line"
  }

  /// What is wrong with `line` as the outcome of all `versions`.
  static func judge(_ versions: [ItemVersion], _ line: String) -> String? {
    var all = AchievementLine()
    for version in versions {
      guard let next = try? JSONDecoder().decode(Self.self, from: Data(version.line.utf8)) else {
        return "\(version.line) is no achievement"
      }
      all.value = max(all.value, next.value)
      all.tier = max(all.tier, next.tier)
      all.dates.merge(next.dates) { max($0, $1) }
    }
    return all.text == line ? nil : "it is \(line), and should be \(all.text)"
  }
}
