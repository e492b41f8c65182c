import Foundation

extension TieredAchievement {
  /// Reads one element of a payload; `nil` when this version can't make sense of it.
  init?(_ json: JSONValue) {
    guard case .object(var members) = json,
      case .string(let name)? = members.removeValue(forKey: "id"), let id = UUID(uuidString: name)
    else { return nil }
    var category = ""
    switch members.removeValue(forKey: "category") {
    case nil, .null: break
    case .string(let text): category = text
    case .bool, .integer, .number, .array, .object: return nil
    }
    var progress = Progress()
    switch members.removeValue(forKey: "progress") {
    case nil, .null: break
    case .object(let fields):
      guard let read = Progress(fields) else { return nil }
      progress = read
    case .bool, .integer, .number, .string, .array: return nil
    }
    self.init(id: id, category: category, progress: progress)
    extra = members
  }

  /// The achievement as the payload spells it.
  public var text: String { String(decoding: json.bytes, as: UTF8.self) }

  /// The element of the payload.
  var json: JSONValue {
    var members = extra
    members["id"] = .string(id.uuidString)
    members["category"] = .string(category)
    members["progress"] = progress.json
    return .object(members)
  }
}

extension TieredAchievement.Progress {
  init?(_ fields: [String: JSONValue]) {
    var fields = fields
    self.init()
    switch fields.removeValue(forKey: "currentValue") {
    case nil, .null: break
    case .integer(let number):
      guard let number = Int(exactly: number) else { return nil }
      currentValue = number
    case .bool, .number, .string, .array, .object: return nil
    }
    switch fields.removeValue(forKey: "currentTier") {
    case nil, .null: break
    case .integer(let number):
      guard let number = Int(exactly: number) else { return nil }
      currentTier = AchievementTier(rawValue: number)
    case .bool, .number, .string, .array, .object: return nil
    }
    switch fields.removeValue(forKey: "tierUnlockDates") {
    case nil, .null: break
    case .array(let items):
      // What Swift makes of a dictionary whose keys are no texts: key, value, key, value.
      guard items.count.isMultiple(of: 2) else { return nil }
      for index in stride(from: 0, to: items.count, by: 2) {
        guard case .integer(let number) = items[index], let tier = Int(exactly: number),
          unlock(tier, items[index + 1])
        else { return nil }
      }
    case .object(let members):
      for (name, date) in members {
        guard let tier = Int(name), unlock(tier, date) else { return nil }
      }
    case .bool, .integer, .number, .string: return nil
    }
    extra = fields
  }

  private mutating func unlock(_ tier: Int, _ json: JSONValue) -> Bool {
    guard case .string(let text) = json, let date = Self.date(text) else { return false }
    unlock(AchievementTier(rawValue: tier), on: date)
    return true
  }

  private static func date(_ text: String) -> Date? {
    (try? Date(text, strategy: Date.ISO8601FormatStyle()))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
  }

  var json: JSONValue {
    var fields = extra
    fields["currentValue"] = .integer(Int64(currentValue))
    if let currentTier { fields["currentTier"] = .integer(Int64(currentTier.rawValue)) }
    fields["tierUnlockDates"] = .array(
      tierUnlockDates.sorted { $0.key < $1.key }.flatMap { tier, date in
        [.integer(Int64(tier.rawValue)), .string(date.formatted(Date.ISO8601FormatStyle()))]
      })
    return .object(fields)
  }
}
