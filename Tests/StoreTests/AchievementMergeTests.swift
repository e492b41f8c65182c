import Foundation
import Testing

@testable import AchievementStore

@Suite("Achievements, the merge rule")
struct AchievementMergeTests {
  typealias Progress = TieredAchievement.Progress

  static let moment = Date(timeIntervalSince1970: 1_700_000_000)

  func achievement(_ number: Int, _ progress: Progress) -> TieredAchievement {
    TieredAchievement(id: testID(number), category: "volume", progress: progress)
  }

  @Test("A: A merge keeps the higher progress, the higher tier and the later date of each tier")
  func higherProgressAndTierWinMerge() throws {
    let (early, late) = (Self.moment, Self.moment.addingTimeInterval(60))
    let local = achievement(
      1,
      Progress(
        currentValue: 40, currentTier: .silver, tierUnlockDates: [.bronze: late, .silver: early]))
    let remote = achievement(
      1,
      Progress(
        currentValue: 12, currentTier: .gold,
        tierUnlockDates: [.bronze: early, .silver: late, .gold: early]))
    let merged = try #require(TieredAchievement.merge(local: [local], remote: [remote]).first)
    #expect(merged.progress.currentValue == 40)
    #expect(merged.progress.currentTier == .gold)
    #expect(merged.progress.tierUnlockDates == [.bronze: late, .silver: late, .gold: early])
    let locked = achievement(1, Progress(currentValue: 50))
    #expect(locked.merged(with: local).progress.currentTier == .silver)
    #expect(local.merged(with: locked).progress.currentTier == .silver)
  }

  @Test("A: A merge adds the achievements that are missing on either side")
  func missingAchievementsAreAddedByMerge() {
    let both = TieredAchievement.merge(
      local: [achievement(1, Progress(currentValue: 1))],
      remote: [achievement(2, Progress(currentValue: 2))])
    #expect(both.map(\.id) == [testID(1), testID(2)])
  }

  @Test("A: Merging is commutative, associative and idempotent, for 400 seeds")
  func mergeIsCommutativeAssociativeIdempotent() {
    for seed in 0..<400 {
      var numbers = SeededNumbers(UInt64(seed))
      let (first, second, third) = (
        Self.set(&numbers), Self.set(&numbers), Self.set(&numbers)
      )
      let isCommutative =
        first.merged(with: second).payload == second.merged(with: first).payload
      let isAssociative = first.merged(with: second).merged(with: third)
        .hasSameElements(as: first.merged(with: second.merged(with: third)))
      let once = first.merged(with: second)
      let isIdempotent =
        first.merged(with: first) == first && once.merged(with: second).hasSameElements(as: once)
        && once.merged(with: first).payload == once.payload
      let isStable = AchievementSet(payload: once.payload)?.hasSameElements(as: once) == true
      if !(isCommutative && isAssociative && isIdempotent && isStable) {
        Issue.record(
          "seed \(seed): \(isCommutative) \(isAssociative) \(isIdempotent) \(isStable)")
        return
      }
    }
  }

  /// A set with achievements, unknown members and elements of a newer version.
  static func set(_ numbers: inout SeededNumbers) -> AchievementSet {
    var elements: [JSONValue] = []
    for _ in 0..<Int.random(in: 0...6, using: &numbers) {
      let id = testID(Int.random(in: 1...4, using: &numbers)).uuidString
      if Int.random(in: 0...4, using: &numbers) == 0 {
        elements.append(
          .object(["id": .string(id), "progress": json(&numbers, depth: 0), "a": .array([])]))
        continue
      }
      var progress: [String: JSONValue] = [
        "currentValue": .integer(Int64.random(in: 0...50, using: &numbers))
      ]
      if Bool.random(using: &numbers) {
        progress["currentTier"] = .integer(Int64.random(in: 1...7, using: &numbers))
      }
      let seconds = Int.random(in: 10...59, using: &numbers)
      progress["tierUnlockDates"] = .array([
        .integer(Int64.random(in: 1...3, using: &numbers)),
        .string("2026-01-01T00:00:\(seconds)Z"),
      ])
      if Bool.random(using: &numbers) { progress["x"] = json(&numbers, depth: 2) }
      elements.append(
        .object([
          "id": .string(id), "category": .string(Bool.random(using: &numbers) ? "a" : "b"),
          "progress": .object(progress), "y": json(&numbers, depth: 2),
        ]))
    }
    return AchievementSet(elements)
  }

  static func json(_ numbers: inout SeededNumbers, depth: Int) -> JSONValue {
    switch Int.random(in: 0...(depth > 0 ? 6 : 4), using: &numbers) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &numbers))
    case 2: return .integer(Int64.random(in: -5...20, using: &numbers))
    case 3: return .string(["", "ä", "z\"", "{"].randomElement(using: &numbers) ?? "")
    case 4: return .number(1.5)
    case 5: return .array([json(&numbers, depth: depth - 1)])
    default:
      return .object([
        "k": json(&numbers, depth: depth - 1),
        Bool.random(using: &numbers) ? "l" : "m": json(&numbers, depth: depth - 1),
      ])
    }
  }

  @Test("A: The payload is JSON with ISO 8601 dates, with equal bytes for equal achievements")
  func equalAchievementsEncodeToSameBytes() throws {
    let set = AchievementSet([
      achievement(
        7,
        Progress(
          currentValue: 12, currentTier: .silver,
          tierUnlockDates: [
            .silver: Self.moment.addingTimeInterval(0.75), .bronze: Self.moment,
          ])
      ).json
    ])
    #expect(
      String(decoding: set.payload, as: UTF8.self) == """
        [{"category":"volume","id":"00000000-0000-4000-8000-000000000007","progress":\
        {"currentTier":2,"currentValue":12,"tierUnlockDates":[1,"2023-11-14T22:13:20Z",2,\
        "2023-11-14T22:13:20Z"]}}]
        """)
    #expect(AchievementSet(payload: set.payload) == set)
  }

  @Test("A: Missing members get their defaults, and both spellings of the unlock dates are read")
  func missingMembersGetDefaults() throws {
    let id = testID(1).uuidString
    let bare = try #require(AchievementSet(payload: Data(#"[{"id":"\#(id)"}]"#.utf8)))
    #expect(bare[testID(1)]?.progress == Progress())
    let object = #"{"tierUnlockDates":{"1":"2023-11-14T22:13:20.500Z"},"currentValue":null}"#
    let dated = try #require(
      AchievementSet(payload: Data(#"[{"id":"\#(id)","progress":\#(object)}]"#.utf8)))
    #expect(dated[testID(1)]?.progress.tierUnlockDates == [.bronze: Self.moment])
    #expect(AchievementSet(payload: Data("{}".utf8)) == nil)
    #expect(AchievementSet(payload: Data()) == nil)
  }

  @Test("A: Unknown members, tiers and achievements of a newer version are kept and merged")
  func unknownMembersAreKeptAndMerged() throws {
    let id = testID(1).uuidString
    let text = """
      [{"id":"\(id)","icon":"star","progress":{"currentTier":9,"best":{"day":3},\
      "tierUnlockDates":[9,"2026-01-01T00:00:00Z"]}},{"id":"\(id)","progress":"later"},{"hint":1}]
      """
    let theirs = try #require(AchievementSet(payload: Data(text.utf8)))
    #expect(theirs.unreadCount == 2)
    let mine = AchievementSet([achievement(1, Progress(currentValue: 5, currentTier: .bronze)).json]
    )
    let merged = String(decoding: mine.merged(with: theirs).payload, as: UTF8.self)
    for part in [
      #""icon":"star""#, #""best":{"day":3}"#, #""currentTier":9"#, #""currentValue":5"#,
      #""progress":"later""#, #""hint":1"#,
    ] {
      #expect(merged.contains(part), "\(part) is lost: \(merged)")
    }
    #expect(AchievementTier(rawValue: 9).name == "tier 9")
  }

  @Test("An unknown integer above the largest signed one stays as it is")
  func largeIntegerStays() throws {
    for number in [UInt64(Int64.max) + 1, .max] {
      let text = #"[{"hint":\#(number)}]"#
      let set = try #require(AchievementSet(payload: Data(text.utf8)))
      #expect(String(decoding: set.payload, as: UTF8.self).contains("\(number)"))
    }
  }

  @Test("A: The summary counts unlocked achievements per category, in a keyed archive")
  func summaryCountsUnlocksPerCategory() throws {
    let set = AchievementSet([
      achievement(1, Progress(currentValue: 5, currentTier: .bronze)).json,
      achievement(2, Progress(currentValue: 5)).json,
      TieredAchievement(
        id: testID(3), category: "skill", progress: Progress(currentTier: .legendary)
      ).json,
    ])
    let expected = ["volume": 1, "skill": 1]
    #expect(set.summary == expected)
    let classes: [AnyClass] = [NSDictionary.self, NSString.self, NSNumber.self]
    let object = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: classes, from: AchievementRecord.archived(["größe": 300, "": 0]))
    #expect(object as? [String: Int] == ["größe": 300, "": 0])
  }

  @Test("A: 10,000 achievements merge in linear time")
  func mergeTimeIsLinear() {
    let sets = [0, 5_000].map { start in
      AchievementSet(
        (start..<(start + 10_000)).map {
          achievement($0, Progress(currentValue: $0, tierUnlockDates: [.bronze: Self.moment])).json
        })
    }
    let merged = sets[0].merged(with: sets[1])
    #expect(merged.achievements.count == 15_000)
    #expect(merged.merged(with: sets[0]) == merged)
  }
}
