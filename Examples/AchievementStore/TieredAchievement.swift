public import Foundation

/// One achievement with tiers, and the user's progress.
public struct TieredAchievement: Hashable, Sendable, Identifiable {
  /// The progress of a user.
  public struct Progress: Hashable, Sendable {
    /// The number that was counted so far.
    public var currentValue: Int
    /// The highest tier that was reached.
    public var currentTier: AchievementTier?
    /// The date at which each tier was reached, in whole seconds, as the payload spells dates.
    public private(set) var tierUnlockDates: [AchievementTier: Date] = [:]

    /// Describes progress; dates are cut to whole seconds.
    public init(
      currentValue: Int = 0, currentTier: AchievementTier? = nil,
      tierUnlockDates: [AchievementTier: Date] = [:]
    ) {
      self.currentValue = currentValue
      self.currentTier = currentTier
      for (tier, date) in tierUnlockDates { unlock(tier, on: date) }
    }

    /// Notes the date of a tier, cut to whole seconds, within the years that four digits can tell;
    /// of two dates the later one stays.
    public mutating func unlock(_ tier: AchievementTier, on date: Date) {
      let seconds = date.timeIntervalSince1970.rounded(.down)
      let date = Date(timeIntervalSince1970: min(max(seconds, -62_135_596_800), 253_402_300_799))
      tierUnlockDates[tier] = max(tierUnlockDates[tier] ?? date, date)
    }
  }

  /// The ID, the same in all versions of the app.
  public let id: UUID

  /// The name that the summary counts it under; empty if the record has none.
  public var category: String

  /// The user's progress.
  public var progress: Progress

  /// Describes an achievement.
  public init(id: UUID, category: String, progress: Progress = Progress()) {
    self.id = id
    self.category = category
    self.progress = progress
  }

  /// Whether any tier was reached.
  public var isUnlocked: Bool { progress.currentTier != nil }

  /// The progress of two devices: the higher value, the higher tier, and all dates, the later one
  /// of each tier.
  ///
  /// The rule is commutative, associative and idempotent, so that all devices end with the same in
  /// whatever order they merge. Rules: the rows A in Docs/Stores.md.
  public func merged(with other: TieredAchievement) -> TieredAchievement {
    var result = self
    // The same achievement has one category; should versions differ, all devices must choose alike.
    if category.utf8.lexicographicallyPrecedes(other.category.utf8) {
      result.category = other.category
    }
    result.progress.currentValue = max(progress.currentValue, other.progress.currentValue)
    let tiers = [progress.currentTier, other.progress.currentTier]
    result.progress.currentTier = tiers.compactMap(\.self).max()
    for (tier, date) in other.progress.tierUnlockDates { result.progress.unlock(tier, on: date) }
    return result
  }

  /// Merges two lists by ID, into the order of IDs.
  public static func merge(
    local: [TieredAchievement], remote: [TieredAchievement]
  ) -> [TieredAchievement] {
    AchievementSet((local + remote).map(\.json)).achievements
  }
}

extension TieredAchievement {
  /// Reads an element of a payload; `nil` if this version can't.
  init?(_ json: JSONValue) {
    guard let id = json["id"]?.text.flatMap({ UUID(uuidString: $0) }),
      let category = (json["category"] ?? .string("")).text,
      let progress = Progress(json["progress"] ?? .object([:]))
    else { return nil }
    self.init(id: id, category: category, progress: progress)
  }

  /// The element of the payload, with the members that this version knows.
  var json: JSONValue {
    .object([
      "id": .string(id.uuidString), "category": .string(category), "progress": progress.json,
    ])
  }
}

extension TieredAchievement.Progress {
  fileprivate init?(_ json: JSONValue) {
    guard case .object = json, let value = (json["currentValue"] ?? .integer(0)).int
    else { return nil }
    self.init(currentValue: value)
    if let tier = json["currentTier"] {
      guard let number = tier.int else { return nil }
      currentTier = AchievementTier(rawValue: number)
    }
    let dates: [(tier: Int?, date: JSONValue)]
    switch json["tierUnlockDates"] {
    case nil: dates = []
    case .object(let members): dates = members.map { (Int($0), $1) }
    case .array(let items) where items.count.isMultiple(of: 2):
      // The coding of a dictionary whose keys are no texts: key, value, key, value.
      dates = stride(from: 0, to: items.count, by: 2).map { (items[$0].int, items[$0 + 1]) }
    default: return nil
    }
    for (tier, date) in dates {
      guard let tier, let date = date.text.flatMap(Self.date) else { return nil }
      unlock(AchievementTier(rawValue: tier), on: date)
    }
  }

  private static func date(_ text: String) -> Date? {
    (try? Date(text, strategy: Date.ISO8601FormatStyle()))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }

  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["currentValue": .integer(Int64(currentValue))]
    if let currentTier { members["currentTier"] = .integer(Int64(currentTier.rawValue)) }
    members["tierUnlockDates"] = .array(
      tierUnlockDates.sorted { $0.key < $1.key }.flatMap { tier, date in
        [.integer(Int64(tier.rawValue)), .string(date.formatted(Date.ISO8601FormatStyle()))]
      })
    return .object(members)
  }
}
