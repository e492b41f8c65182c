import CloudMachine
import CloudProtocol
import CloudSyncTesting
import Records
import Testing

@testable import LoopbackServer

/// Queries by indexes of a file against the same queries by a scan of all records in memory.
@Suite("Queries by indexes")
struct IndexedQueryTests {
  private static let texts = [
    "a", "A", "ab", "Ab", "abc", "b", "e\u{301}", "\u{e9}", "\u{c9}tude", "\u{212a}elvin", "Kelvin",
    "\u{e01}\u{e33}", "\u{1f600}", "", "zz", String(repeating: "long ", count: 40) + "a",
    String(repeating: "long ", count: 40) + "b", String(repeating: "Long ", count: 40),
  ]
  private static let integers: [Int64] = [0, 1, 2, 3, -1, .max, .max - 1, .min]
  private static let numbers: [Double] = [0, -0.0, 1, 1.5, 2, -1, 0x1p63, .infinity]
  private static let keys = ["text", "n", "d", "t", "b", "r", "tags", "place"]

  private static func value(_ key: String, _ random: inout StorageRandom) -> FieldValue {
    switch key {
    case "text": .string(random.pick(texts))
    case "n": .int64(random.pick(integers))
    case "d": .double(random.pick(numbers))
    case "t": .date(Timestamp(secondsSinceReferenceDate: random.pick(numbers)))
    case "b":
      .bytes(Array(repeating: UInt8(random.below(3)), count: Int(random.pick([0, 3, 130]))))
    case "r":
      .reference(
        Reference(
          target: RecordID(
            name: random.pick(["x", "y", "z"]), zone: random.pick([zoneA, .default])),
          action: .none))
    case "tags": .list([.string(random.pick(texts)), .string(random.pick(texts))])
    default: .location(Location(latitude: Double(random.below(9)), longitude: 5))
    }
  }

  private static func save(_ random: inout StorageRandom, in zone: ZoneID) -> RecordSave {
    var record = Record(id: RecordID(name: "r\(random.below(120))", zone: zone), type: "T")
    for key in keys where random.below(4) > 0 { record.fields[key] = Field(value(key, &random)) }
    return RecordSave(record)
  }

  private static func filter(_ random: inout StorageRandom) -> Query.Filter {
    if random.below(8) == 0 {
      return Query.Filter(
        key: "___recordID", comparator: random.pick([.equals, .beginsWith, .lessThan, .isIn]),
        value: random.below(3) == 0
          ? .list([.string("r5"), .string("r77")]) : .string("r\(random.below(120))"))
    }
    let key = random.pick(keys)
    let comparator: Query.Filter.Comparator = random.pick([
      .equals, .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan,
      .greaterThanOrEquals, .isIn, .isIn, .isNotIn, .beginsWith, .notBeginsWith, .listContains,
      .near, .containsAllTokens,
    ])
    // Integers and floating-point numbers are compared with one another.
    let other =
      key == "n" && random.below(3) == 0 ? "d" : key == "d" ? random.pick(["d", "n"]) : key
    var operand = value(comparator == .listContains ? "text" : other, &random)
    if comparator == .isIn || comparator == .isNotIn {
      operand = .list((0..<random.below(5)).map { _ in value(other, &random) })
    }
    return Query.Filter(key: key, comparator: comparator, value: operand, distance: 100_000)
  }

  private static func query(_ random: inout StorageRandom) -> Query {
    let sortKeys = ["text", "n", "d", "t", "b", "r", "___modTime", "___createTime", "___recordID"]
    return Query(
      recordType: "T", filters: (0..<random.below(4)).map { _ in filter(&random) },
      sorts: (0..<random.below(3)).map { _ in
        Query.Sort(key: random.pick(sortKeys), ascending: random.below(2) == 0)
      })
  }

  /// Compares the pages of random queries, with random changes between the pages.
  ///
  /// The limit of entries makes plans choose each way to find records.
  @Test(
    "The answers by indexes are those of a scan: every filter, sort, page, change and rollback",
    arguments: 1...6)
  func answersAreThoseOfAScan(_ seed: UInt64) throws {
    var random = StorageRandom(seed: seed)
    let place = try TemporaryFile()
    defer { place.remove() }
    let twins = try ScannedTwins(path: place.path, indexEntries: Int(random.pick([3, 30, 10_000])))
    _ = try twins.ask(.modifyZones(ModifyZones(save: [zoneA, zoneB])))
    var (found, pages) = (0, 0)
    for round in 0..<60 {
      try change(twins, &random, count: round == 0 ? 150 : 8)
      let query = IndexedQueryTests.query(&random)
      let zone = random.pick([nil, zoneA, zoneA, .default])
      var cursor: QueryCursor?
      repeat {
        let request = QueryRecords(
          query: query, zone: zone, cursor: cursor, limit: 1 + Int(random.below(40)))
        guard case .success(.queried(let page)) = try twins.ask(.queryRecords(request)) else {
          break
        }
        found += page.records.count
        pages += 1
        cursor = page.cursor
        if random.below(3) == 0 { try change(twins, &random, count: 3) }
      } while cursor != nil
      if random.below(15) == 0 {
        _ = try twins.ask(.modifyZones(ModifyZones(delete: [zoneA])))
        _ = try twins.ask(.modifyZones(ModifyZones(save: [zoneA])))
        try change(twins, &random, count: 100)
      }
      if random.below(10) == 0 { try twins.forgetTombstones() }
      if random.below(10) == 0 { try twins.failToSave(IndexedQueryTests.save(&random, in: zoneA)) }
      if random.below(10) == 0 { try twins.reopen() }
      try twins.expectCurrentIndexes()
    }
    #expect(found > 300 && pages > 40, "\(found) \(pages)")
    #expect(try twins.indexCount() > 5)
    try twins.file.close()
  }

  private func change(_ twins: ScannedTwins, _ random: inout StorageRandom, count: Int) throws {
    let zone = random.pick([zoneA, zoneA, .default])
    var saves: [RecordSave] = []
    for _ in 0..<count {
      let save = IndexedQueryTests.save(&random, in: zone)
      if !saves.contains(where: { $0.id == save.id }) { saves.append(save) }
    }
    let gone = RecordID(name: "r\(random.below(120))", zone: zone)
    _ = try twins.ask(
      .modifyRecords(
        ModifyRecords(
          save: saves, delete: saves.contains { $0.id == gone } ? [] : [gone],
          policy: random.pick([.allKeys, .changedKeys]), isAtomic: false)))
  }
}
