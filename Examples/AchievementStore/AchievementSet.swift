import Foundation

/// All achievements of a person by ID, and with them what only a newer version understands.
///
/// A value; its payload is the same bytes for the same achievements.
struct AchievementSet: Hashable, Sendable {
  private var byID: [UUID: TieredAchievement] = [:]
  /// Elements of the payload this version can't read, by their ID or, without one, their bytes.
  private var unread: [String: JSONValue] = [:]

  /// Nothing reached yet.
  init() {}

  /// The achievements of a list; what is in it twice is merged.
  init(_ achievements: [TieredAchievement]) {
    for achievement in achievements { insert(achievement) }
  }

  /// The elements of a payload.
  init(_ elements: [JSONValue]) {
    for element in elements {
      if let achievement = TieredAchievement(element) {
        insert(achievement)
      } else {
        insertUnread(element)
      }
    }
  }

  /// Reads a payload; `nil` when it is no JSON array.
  init?(payload: Data) {
    guard let elements = try? JSONDecoder().decode([JSONValue].self, from: payload) else {
      return nil
    }
    self.init(elements)
  }

  /// Whether there is nothing at all.
  var isEmpty: Bool { byID.isEmpty && unread.isEmpty }

  /// What can be read, in the order of IDs.
  var achievements: [TieredAchievement] {
    byID.values.sorted { $0.id.uuidString < $1.id.uuidString }
  }

  /// How many elements only a newer version understands.
  var unreadCount: Int { unread.count }

  /// The achievement with an ID.
  subscript(id: UUID) -> TieredAchievement? { byID[id] }

  /// Everything, in an order that all devices share.
  var elements: [JSONValue] {
    achievements.map(\.json) + unread.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The JSON of all elements, with sorted keys and dates as ISO 8601 spells them.
  var payload: Data { JSONValue.array(elements).bytes }

  /// How many unlocked achievements each category has.
  var summary: [String: Int] {
    var counts: [String: Int] = [:]
    for achievement in byID.values {
      let category = achievement.category.isEmpty ? "other" : achievement.category
      counts[category, default: 0] += achievement.isUnlocked ? 1 : 0
    }
    return counts
  }

  /// Adds an achievement; one that is there already is merged.
  mutating func insert(_ achievement: TieredAchievement) {
    byID[achievement.id] = byID[achievement.id]?.merged(with: achievement) ?? achievement
  }

  /// Everything of both.
  func merged(with other: AchievementSet) -> AchievementSet {
    var result = self
    for achievement in other.byID.values { result.insert(achievement) }
    for element in other.unread.values { result.insertUnread(element) }
    return result
  }

  private mutating func insertUnread(_ element: JSONValue) {
    var key = String(decoding: element.bytes, as: UTF8.self)
    if case .object(let members) = element, case .string(let id)? = members["id"] { key = id }
    unread[key] = unread[key]?.joined(with: element) ?? element
  }
}
