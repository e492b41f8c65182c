import Foundation

/// All achievements of a user, with the elements and members that only a newer version can read.
struct AchievementSet: Hashable, Sendable {
  /// The elements of the payload by their ID; an unreadable one by `~` and its ID or its bytes.
  private var elements: [String: JSONValue] = [:]
  /// The date of the last change on any device, according to its clock.
  var lastUpdated: Date?
  /// The summary as the record has it: an archive has its members in another order each time.
  var archive: Data?

  /// Merges the elements of a payload.
  init(_ elements: [JSONValue] = []) {
    for element in elements { insert(element) }
  }

  /// Reads a payload; `nil` if it is not a JSON array.
  init?(payload: Data) {
    guard let elements = try? JSONDecoder().decode([JSONValue].self, from: payload)
    else { return nil }
    self.init(elements)
  }

  /// The JSON of all elements, with the same bytes on all devices: in the order of their IDs,
  /// unreadable ones at the end.
  var payload: Data { JSONValue.array(elements.sorted { $0.key < $1.key }.map(\.value)).bytes }

  var isEmpty: Bool { elements.isEmpty }

  /// The achievements that this version can read, in the order of their IDs.
  var achievements: [TieredAchievement] {
    elements.sorted { $0.key < $1.key }.compactMap { TieredAchievement($0.value) }
  }

  /// The number of elements that only a newer version can read.
  var unreadCount: Int { elements.keys.count { $0.hasPrefix("~") } }

  subscript(id: UUID) -> TieredAchievement? {
    elements[id.uuidString].flatMap { TieredAchievement($0) }
  }

  /// The number of unlocked achievements of each category.
  var summary: [String: Int] {
    var counts: [String: Int] = [:]
    for achievement in achievements {
      let category = achievement.category.isEmpty ? "other" : achievement.category
      counts[category, default: 0] += achievement.isUnlocked ? 1 : 0
    }
    return counts
  }

  /// Adds an element, or merges it with the one of the same ID.
  mutating func insert(_ element: JSONValue) {
    guard let achievement = TieredAchievement(element) else {
      let key = "~" + (element["id"]?.text ?? String(decoding: element.bytes, as: UTF8.self))
      elements[key] = elements[key]?.joined(with: element) ?? element
      return
    }
    let key = achievement.id.uuidString
    let known = elements[key].flatMap { TieredAchievement($0) }
    let merged = known?.merged(with: achievement) ?? achievement
    elements[key] = (elements[key]?.joined(with: element) ?? element).replacing(with: merged.json)
  }

  /// Notes that the achievements were changed on this device.
  mutating func touch(_ date: Date?) {
    lastUpdated = date
    archive = AchievementRecord.archived(summary)
  }

  /// Everything of both; `other` itself if it lacks nothing.
  func merged(with other: AchievementSet) -> AchievementSet {
    var result = self
    for element in other.elements.values { result.insert(element) }
    if result.hasSameElements(as: other) { return other }
    guard !result.hasSameElements(as: self) else { return self }
    result.touch([lastUpdated, other.lastUpdated].compactMap(\.self).max())
    return result
  }

  /// Whether nothing differs except the dates of the sets and the spelling of their summaries.
  func hasSameElements(as other: AchievementSet) -> Bool { elements == other.elements }
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
    try container.encode(Array(elements.values), forKey: .elements)
    try container.encodeIfPresent(lastUpdated, forKey: .lastUpdated)
    try container.encodeIfPresent(archive, forKey: .archive)
  }
}
