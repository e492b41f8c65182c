public import Foundation

/// One achievement with tiers, and how far a person is with it.
public struct TieredAchievement: Hashable, Sendable, Identifiable {
  /// How far a person is.
  public struct Progress: Hashable, Sendable {
    /// What was counted so far.
    public var currentValue: Int
    /// The highest tier that was reached.
    public var currentTier: AchievementTier?
    /// When each tier was reached, in whole seconds, as the payload spells dates.
    public private(set) var tierUnlockDates: [AchievementTier: Date]
    /// Members a newer version wrote.
    var extra: [String: JSONValue] = [:]

    /// Describes how far a person is; dates are cut to whole seconds.
    public init(
      currentValue: Int = 0, currentTier: AchievementTier? = nil,
      tierUnlockDates: [AchievementTier: Date] = [:]
    ) {
      self.currentValue = currentValue
      self.currentTier = currentTier
      self.tierUnlockDates = tierUnlockDates.mapValues(Self.wholeSeconds)
    }

    /// Notes when a tier was reached; of two dates the later one stays.
    public mutating func unlock(_ tier: AchievementTier, on date: Date) {
      let date = Self.wholeSeconds(date)
      tierUnlockDates[tier] = tierUnlockDates[tier].map { max($0, date) } ?? date
    }

    /// Cut to whole seconds, within the years that four digits can tell.
    private static func wholeSeconds(_ date: Date) -> Date {
      let seconds = date.timeIntervalSince1970.rounded(.down)
      return Date(timeIntervalSince1970: min(max(seconds, -62_135_596_800), 253_402_300_799))
    }
  }

  /// Names the achievement, the same in all versions of the app.
  public let id: UUID

  /// What the summary counts it under; empty when the record does not say.
  public var category: String

  /// How far the person is.
  public var progress: Progress

  /// Members a newer version wrote.
  var extra: [String: JSONValue] = [:]

  /// Describes an achievement.
  public init(id: UUID, category: String, progress: Progress = Progress()) {
    self.id = id
    self.category = category
    self.progress = progress
  }

  /// Whether any tier was reached.
  public var isUnlocked: Bool { progress.currentTier != nil }
}
