public import Foundation

/// What there is to reach: an achievement's name, its category and its tiers.
///
/// Definitions are part of the app and never synced; progress is found by their IDs, which are
/// fixed for ever.
public struct AchievementDefinition: Hashable, Sendable, Identifiable {
  /// The achievement's ID.
  public let id: UUID
  /// Its short name, for the command line.
  public let name: String
  /// What people read.
  public let title: String
  /// What it counts under in the summary.
  public let category: String
  /// How much each tier asks for, bronze first.
  public let thresholds: [Int]

  private init(
    _ number: UInt8, _ name: String, _ title: String, _ category: String, _ thresholds: [Int]
  ) {
    id = UUID(
      uuid: (
        0xA1, 0x7C, 0x0D, 0x3E, 0x52, 0x98, 0x4B, 0x60, 0x91, 0x0F, 0xE4, 0x36, 0x7A, 0x2D, 0xC8,
        number
      ))
    self.name = name
    self.title = title
    self.category = category
    self.thresholds = thresholds
  }

  /// The highest tier that `value` reaches; `nil` below bronze.
  public func tier(at value: Int) -> AchievementTier? {
    let reached = thresholds.filter { $0 <= value }.count
    return reached == 0 ? nil : AchievementTier(rawValue: reached)
  }

  /// How much the next tier asks for; `nil` when all are reached.
  public func next(after value: Int) -> Int? {
    thresholds.first { $0 > value }
  }

  /// The achievements of this version, in the order people see them.
  public static let all: [AchievementDefinition] = [
    AchievementDefinition(
      1, "streak", "Days in a row", "consistency", [3, 7, 30, 100, 365]),
    AchievementDefinition(
      2, "regular", "Days with a puzzle", "consistency", [10, 50, 100, 250, 500]),
    AchievementDefinition(3, "played", "Puzzles played", "volume", [10, 50, 200, 500, 1_000]),
    AchievementDefinition(4, "solved", "Puzzles solved", "volume", [5, 25, 100, 400, 900]),
    AchievementDefinition(5, "explorer", "Different games", "variety", [2, 4, 8, 12, 20]),
    AchievementDefinition(
      6, "all-round", "Games on one day", "variety", [2, 3, 5, 8, 12]),
    AchievementDefinition(7, "perfect", "Solved at the first try", "skill", [1, 3, 10, 25, 50]),
    AchievementDefinition(8, "comeback", "Solved at the last try", "skill", [1, 5, 15, 30, 60]),
  ]

  /// The achievement with an ID; `nil` for one this version does not know.
  public static func with(id: UUID) -> AchievementDefinition? {
    all.first { $0.id == id }
  }

  /// The achievement with a short name, or whose ID is spelled out.
  public static func named(_ name: String) -> AchievementDefinition? {
    all.first { $0.name == name.lowercased() } ?? UUID(uuidString: name).flatMap { with(id: $0) }
  }
}
