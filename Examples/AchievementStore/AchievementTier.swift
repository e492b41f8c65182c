/// A step of an achievement, from bronze upwards.
///
/// A number and not a closed list: a tier that only a newer version knows is kept and merged like
/// any other.
public struct AchievementTier: RawRepresentable, Hashable, Sendable, Comparable {
  /// How high the tier is; bronze is 1.
  public let rawValue: Int

  /// The tier with a number.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The first tier.
  public static let bronze = AchievementTier(rawValue: 1)
  /// The second tier.
  public static let silver = AchievementTier(rawValue: 2)
  /// The third tier.
  public static let gold = AchievementTier(rawValue: 3)
  /// The fourth tier.
  public static let diamond = AchievementTier(rawValue: 4)
  /// The highest tier of this version.
  public static let legendary = AchievementTier(rawValue: 5)

  /// The tiers this version knows, lowest first.
  public static let all: [AchievementTier] = [.bronze, .silver, .gold, .diamond, .legendary]

  /// The tier's name; `tier 9` for one of a newer version.
  public var name: String {
    let names = ["bronze", "silver", "gold", "diamond", "legendary"]
    return names.indices.contains(rawValue - 1) ? names[rawValue - 1] : "tier \(rawValue)"
  }

  /// Whether the first is lower than the second.
  public static func < (first: AchievementTier, second: AchievementTier) -> Bool {
    first.rawValue < second.rawValue
  }
}
