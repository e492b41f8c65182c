import CloudMachine
import CloudProtocol
import Records
import Testing
import VerificationSupport

/// Random queries over random records, against the slow and obvious way.
struct QueryRandomTests {
  /// A record as the slow way sees it.
  struct Item {
    var name: String
    var zone: ZoneID
    var text: String?
    var count: Int?
    var ratio: Double?
    var tags: [String]?
  }

  private static let words = ["ab", "Ab", "b", "abc", "zz", "Z"]

  private static func item(_ index: Int, _ random: inout SeededGenerator) -> Item {
    var item = Item(
      name: "r\(index * 613 % 1000)",
      zone: [World.zone, ZoneID(name: "Y"), .default][random.below(3)])
    if !random.once(in: 5) { item.text = words[random.below(words.count)] }
    if !random.once(in: 5) { item.count = random.below(7) - 3 }
    if !random.once(in: 5) { item.ratio = Double(random.below(14)) / 2 - 3 }
    if !random.once(in: 5) {
      item.tags = (0..<(1 + random.below(3))).map { _ in words[random.below(words.count)] }
    }
    return item
  }

  private static func save(_ item: Item) -> RecordSave {
    var fields: [String: FieldValue] = [:]
    fields["text"] = item.text.map { .string($0) }
    fields["count"] = item.count.map { .int64(Int64($0)) }
    fields["ratio"] = item.ratio.map { .double($0) }
    fields["tags"] = item.tags.map { .list($0.map { .string($0) }) }
    return fresh(item.name, fields, zone: item.zone, type: "Item")
  }

  /// A filter, and whether it holds, written down separately.
  private static func condition(
    _ random: inout SeededGenerator
  ) -> (Query.Filter, (Item) -> Bool) {
    let word = words[random.below(words.count)]
    let lower = word.lowercased()
    let number = random.below(7) - 3
    let half = Double(random.below(14)) / 2 - 3
    switch random.below(14) {
    case 0: return (filter("text", .equals, .string(word)), { $0.text?.lowercased() == lower })
    case 1: return (filter("text", .notEquals, .string(word)), { $0.text?.lowercased() != lower })
    case 2:
      return (
        filter("text", .lessThan, .string(word)),
        { $0.text.map { $0.lowercased() < lower } ?? false }
      )
    case 3:
      return (
        filter("text", .beginsWith, .string(word)),
        { Array(($0.text ?? "").utf8).starts(with: word.utf8) }
      )
    case 4:
      return (
        filter("count", .lessThanOrEquals, .double(half)),
        { $0.count.map { Double($0) <= half } ?? false }
      )
    case 5: return (filter("count", .equals, .int64(Int64(number))), { $0.count == number })
    case 6:
      return (
        filter("ratio", .greaterThan, .int64(Int64(number))),
        { $0.ratio.map { $0 > Double(number) } ?? false }
      )
    case 7:
      return (
        filter("ratio", .isIn, .list([.double(half), .int64(Int64(number))])),
        { $0.ratio == half || $0.ratio == Double(number) }
      )
    case 8:
      return (
        filter("count", .isNotIn, .list([.int64(0), .int64(Int64(number))])),
        { $0.count != 0 && $0.count != number }
      )
    case 9:
      return (
        filter("tags", .listContains, .string(word)),
        { ($0.tags ?? []).contains { $0.lowercased() == lower } }
      )
    case 10:
      return (
        filter("tags", .notListContainsAll, texts(word, "b")),
        { item in
          let tags = Set((item.tags ?? []).map { $0.lowercased() })
          return !(tags.contains(lower) && tags.contains("b"))
        }
      )
    case 11:
      return (
        filter("tags", .listMemberBeginsWith, .string(word)),
        { ($0.tags ?? []).contains { Array($0.utf8).starts(with: word.utf8) } }
      )
    case 12:
      return (
        filter("text", .containsAllTokens, .string(word)), { $0.text?.lowercased() == lower }
      )
    default:
      return (
        filter("___recordID", .beginsWith, .string("r1")), { $0.name.hasPrefix("r1") }
      )
    }
  }

  /// How two items stand to each other in one level, written down separately.
  private static func compare(_ first: Item, _ second: Item, _ key: String) -> Int {
    func order<Value: Comparable>(_ first: Value?, _ second: Value?) -> Int {
      guard let first, let second else { return (first == nil ? 0 : 1) - (second == nil ? 0 : 1) }
      return first < second ? -1 : first == second ? 0 : 1
    }
    return switch key {
    case "text": order(first.text?.lowercased(), second.text?.lowercased())
    case "count": order(first.count, second.count)
    case "ratio": order(first.ratio, second.ratio)
    default: order(first.name, second.name)
    }
  }

  /// Proves CS-84, E8, SC-157.
  @Test(
    "500 random queries over 500 random records match brute force, whole and in pages",
    arguments: 1...5)
  func randomQueriesMatchBruteForce(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try World(zones: [World.zone, ZoneID(name: "Y")])
    let items = (0..<500).map { QueryRandomTests.item($0, &random) }
    for start in stride(from: 0, to: items.count, by: 250) {
      _ = try world.modify(items[start..<(start + 250)].map { QueryRandomTests.save($0) })
    }
    var matches = 0
    for number in 0..<100 {
      let conditions = (0..<random.below(3)).map { _ in QueryRandomTests.condition(&random) }
      let sorts = (0..<random.below(3)).map { _ in
        by(
          ["text", "count", "ratio", "___recordID"][random.below(4)], ascending: random.once(in: 2))
      }
      let zone = [nil, World.zone, .default][random.below(3)]
      let expected = items.filter { item in
        (zone == nil || item.zone == zone) && conditions.allSatisfy { $0.1(item) }
      }.sorted { first, second in
        for sort in sorts {
          // Two zones may have a record of one name, which its ID tells apart, zone first.
          if sort.key == "___recordID", first.zone != second.zone {
            return (first.zone < second.zone) == sort.ascending
          }
          let order = QueryRandomTests.compare(first, second, sort.key)
          if order != 0 { return (order < 0) == sort.ascending }
        }
        return (first.zone, first.name) < (second.zone, second.name)
      }.map(\.name).joined(separator: " ")
      let limit = [nil, 200, 1 + random.below(60)][random.below(3)]
      let found = try world.find(conditions.map(\.0), sorts, zone: zone, limit: limit)
      matches += found.isEmpty ? 0 : 1
      if found != expected {
        let filters = conditions.map(\.0)
        let place = zone?.name ?? "everywhere"
        Issue.record("seed \(seed), query \(number): \(filters) \(sorts) \(place)")
        return
      }
    }
    #expect(matches > 50, "most of the queries find something")
  }
}
