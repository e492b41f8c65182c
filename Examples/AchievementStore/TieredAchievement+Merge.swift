import Foundation

extension TieredAchievement {
  /// What two devices know of the same achievement, brought together.
  ///
  /// The higher progress, the higher tier, and all unlock dates with the later one per tier. The
  /// rule is commutative, associative and idempotent, so every device ends with the same,
  /// whatever came first, and however often. Rules: the rows A in Docs/Stores.md.
  public func merged(with other: TieredAchievement) -> TieredAchievement {
    var result = self
    // The same achievement has one category; should two versions differ, all must choose alike.
    result.category = Self.greater(category, other.category)
    result.progress.currentValue = max(progress.currentValue, other.progress.currentValue)
    if let theirs = other.progress.currentTier {
      result.progress.currentTier = progress.currentTier.map { max($0, theirs) } ?? theirs
    }
    for (tier, date) in other.progress.tierUnlockDates {
      result.progress.unlock(tier, on: date)
    }
    result.progress.extra = Self.joined(progress.extra, other.progress.extra)
    result.extra = Self.joined(extra, other.extra)
    return result
  }

  /// Merges two lists by ID; what is on one side only is added.
  ///
  /// The result is in the order of IDs.
  public static func merge(
    local: [TieredAchievement], remote: [TieredAchievement]
  ) -> [TieredAchievement] {
    AchievementSet(local).merged(with: AchievementSet(remote)).achievements
  }

  private static func greater(_ first: String, _ second: String) -> String {
    first.utf8.lexicographicallyPrecedes(second.utf8) ? second : first
  }

  private static func joined(
    _ first: [String: JSONValue], _ second: [String: JSONValue]
  ) -> [String: JSONValue] {
    second.isEmpty ? first : first.merging(second) { $0.joined(with: $1) }
  }
}
