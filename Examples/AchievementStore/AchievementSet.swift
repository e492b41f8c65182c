import Foundation

/// All achievements of a user by ID, with the elements that only a newer version can read.
///
/// The payload has the same bytes for the same achievements.
struct AchievementSet: Hashable, Sendable {
  private var byID: [UUID: TieredAchievement] = [:]
  /// Elements of the payload this version can't read, by their ID or, without one, their bytes.
  private var unread: [String: JSONValue] = [:]
  /// The date of the last change on any device, according to its clock.
  var lastUpdated: Date?
  /// The summary as the record has it: an archive has its members in another order each time.
  var archive: Data?

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
    guard let elements = Self.elements(of: payload) else { return nil }
    self.init(elements)
  }

  static func elements(of payload: Data) -> [JSONValue]? {
    try? JSONDecoder().decode([JSONValue].self, from: payload)
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

  /// Notes that the achievements were changed on this device.
  mutating func touch(_ date: Date?) {
    lastUpdated = date
    archive = AchievementRecord.archived(summary)
  }

  /// Everything of both; `other` itself if it lacks nothing.
  func merged(with other: AchievementSet) -> AchievementSet {
    var result = self
    for achievement in other.byID.values { result.insert(achievement) }
    for element in other.unread.values { result.insertUnread(element) }
    if result.hasSameElements(as: other) { return other }
    guard !result.hasSameElements(as: self) else { return self }
    result.lastUpdated = [lastUpdated, other.lastUpdated].compactMap(\.self).max()
    result.archive = AchievementRecord.archived(result.summary)
    return result
  }

  /// Whether nothing differs except the dates of the sets and the spelling of their summaries.
  func hasSameElements(as other: AchievementSet) -> Bool {
    byID == other.byID && unread == other.unread
  }

  private mutating func insertUnread(_ element: JSONValue) {
    var key = String(decoding: element.bytes, as: UTF8.self)
    if case .object(let members) = element, case .string(let id)? = members["id"] { key = id }
    unread[key] = unread[key]?.joined(with: element) ?? element
  }
}

extension AchievementSet: Codable {
  private enum CodingKeys: String, CodingKey {
    case elements
    case lastUpdated
    case archive = "summary"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(try container.decode([JSONValue].self, forKey: .elements))
    lastUpdated = try container.decodeIfPresent(Date.self, forKey: .lastUpdated)
    archive = try container.decodeIfPresent(Data.self, forKey: .archive)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(elements, forKey: .elements)
    try container.encodeIfPresent(lastUpdated, forKey: .lastUpdated)
    try container.encodeIfPresent(archive, forKey: .archive)
  }
}
