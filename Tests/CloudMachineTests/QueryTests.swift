import CloudMachine
import CloudProtocol
import Records
import Testing

/// What filters let through and in which order it comes.
///
/// Rules: CS-71 to CS-90, WS-45 to WS-53.
struct QueryTests {
  private static let big: Int64 = 1 << 53

  /// Four records: one with everything, one with other values, one with odd ones, and one with
  /// nothing.
  private static func items() throws -> World {
    let world = try World()
    let rome = FieldValue.location(Location(latitude: 41.9, longitude: 12.5))
    let milan = FieldValue.location(Location(latitude: 45.46, longitude: 9.19))
    #expect(
      try world.modify([
        fresh(
          "a",
          [
            "text": .string("Apple pie"), "count": .int64(3), "ratio": .double(0.5),
            "date": .date(Timestamp(secondsSinceReferenceDate: 10)), "data": .bytes([1, 2]),
            "link": pointer("x"), "place": rome, "tags": texts("Red", "green"),
            "numbers": .list([.int64(1), .int64(2)]), "links": .list([pointer("x"), pointer("y")]),
          ], type: "Item"),
        fresh(
          "b",
          [
            "text": .string("banana"), "count": .int64(QueryTests.big + 1),
            "ratio": .double(Double(QueryTests.big)),
            "date": .date(Timestamp(secondsSinceReferenceDate: 20)), "data": .bytes([1]),
            "link": pointer("y"), "place": milan, "tags": texts("blue"),
            "numbers": .list([.int64(3)]),
          ], type: "Item"),
        fresh(
          "c", ["text": .string("Zoë"), "count": .int64(-1), "ratio": .double(.nan)], type: "Item"),
        fresh("d", type: "Item"), fresh("other", ["text": .string("banana")], type: "Note"),
      ]) == "+a ok, +b ok, +c ok, +d ok, +other ok")
    return world
  }

  /// Proves CS-74, CS-78.
  @Test("Comparators of single values work as documented; a negation matches all other records")
  func singleValueComparatorsMatchDocumentation() throws {
    let world = try QueryTests.items()
    let rows: [(Query.Filter, String)] = [
      // Text: equality and order without case, beginnings with it.
      (filter("text", .equals, .string("BANANA")), "b"),
      (filter("text", .notEquals, .string("BANANA")), "a c d"),
      (filter("text", .equals, .string("Zoe\u{308}")), "c"),
      (filter("text", .equals, .string("Zoe")), ""),
      (filter("text", .lessThan, .string("BANANA")), "a"),
      (filter("text", .lessThanOrEquals, .string("BANANA")), "a b"),
      (filter("text", .greaterThan, .string("b")), "b c"),
      (filter("text", .beginsWith, .string("App")), "a"),
      (filter("text", .beginsWith, .string("app")), ""),
      (filter("text", .notBeginsWith, .string("App")), "b c d"),
      (filter("text", .isIn, texts("apple PIE", "zoë", "none")), "a c"),
      (filter("text", .isNotIn, texts("apple PIE", "zoë", "none")), "b d"),
      (filter("text", .isIn, .list([])), ""),
      // Numbers: whole and floating ones side by side, exactly.
      (filter("count", .equals, .int64(3)), "a"), (filter("count", .equals, .double(3)), "a"),
      (filter("count", .equals, .double(Double(QueryTests.big))), ""),
      (filter("count", .greaterThan, .double(Double(QueryTests.big))), "b"),
      (filter("ratio", .lessThan, .int64(QueryTests.big + 1)), "a b"),
      (filter("ratio", .greaterThanOrEquals, .int64(1)), "b"),
      (filter("count", .lessThan, .double(-0.5)), "c"),
      (filter("count", .lessThan, .double(.infinity)), "a b c"),
      (filter("count", .greaterThan, .double(-1e300)), "a b c"),
      (filter("ratio", .equals, .double(.nan)), ""),
      (filter("ratio", .notEquals, .double(0.5)), "b c d"),
      (filter("count", .isIn, .list([.double(-1), .int64(3)])), "a c"),
      // Dates, bytes, references.
      (filter("date", .lessThan, .date(Timestamp(secondsSinceReferenceDate: 15))), "a"),
      (filter("date", .greaterThanOrEquals, .date(Timestamp(secondsSinceReferenceDate: 20))), "b"),
      (filter("data", .equals, .bytes([1, 2])), "a"),
      (filter("data", .lessThan, .bytes([1, 2])), "b"),
      (filter("link", .equals, pointer("x")), "a"),
      (
        filter("link", .equals, .reference(Reference(target: id("x"), action: .deleteSelf))), "a"
      ),
      (filter("link", .equals, pointer("x", .default)), ""),
      (filter("link", .equals, pointer("x", ZoneID(name: "Z", owner: world.alice.rawValue))), "a"),
      (filter("link", .isIn, .list([pointer("y"), pointer("z")])), "b"),
    ]
    try check(rows, world)
    #expect(
      try world.find([
        filter("count", .greaterThan, .int64(0)), filter("text", .lessThan, .string("b")),
      ])
        == "a", "all filters must hold")
    #expect(try world.find() == "a b c d")
  }

  /// Proves CS-76, CS-77.
  @Test("each comparator of lists and places does the same")
  func listAndLocationComparatorsMatch() throws {
    let world = try QueryTests.items()
    let rome = FieldValue.location(Location(latitude: 41.8, longitude: 12.4))
    let rows: [(Query.Filter, String)] = [
      // Lists.
      (filter("tags", .listContains, .string("RED")), "a"),
      (filter("tags", .notListContains, .string("red")), "b c d"),
      (filter("tags", .listContainsAny, texts("blue", "green")), "a b"),
      (filter("tags", .notListContainsAny, texts("blue", "green")), "c d"),
      (filter("tags", .listContainsAll, texts("red", "green")), "a"),
      (filter("tags", .notListContainsAll, texts("red", "green")), "b c d"),
      (filter("tags", .listMemberBeginsWith, .string("gr")), "a"),
      (filter("tags", .listMemberBeginsWith, .string("GR")), ""),
      (filter("tags", .notListMemberBeginsWith, .string("gr")), "b c d"),
      (filter("numbers", .listContains, .double(2)), "a"),
      (filter("numbers", .equals, .list([.int64(1), .int64(2)])), "a"),
      (filter("numbers", .notEquals, .list([.int64(2), .int64(1)])), "a b c d"),
      (filter("links", .listContains, pointer("y")), "a"),
      // Places: 13.9 km from one, 490 km from the other.
      (filter("place", .near, rome, distance: 13_000), ""),
      (filter("place", .near, rome, distance: 14_500), "a"),
      (filter("place", .near, rome, distance: 1e9), "a b"),
      // A field nobody ever saved.
      (filter("nothing", .equals, .int64(1)), ""),
      (filter("nothing", .notEquals, .int64(1)), "a b c d"),
    ]
    try check(rows, world)
  }

  private func check(_ rows: [(Query.Filter, String)], _ world: World) throws {
    for (filter, names) in rows {
      let found = try world.find([filter])
      if found != names {
        Issue.record("\(filter.key) \(filter.comparator) \(filter.value): \(found), not \(names)")
      }
    }
  }

  /// Proves CS-75.
  @Test("Word search ignores case, diacritics and stop words, across fields or in one")
  func tokenSearchIgnoresCaseAndStopWords() throws {
    let world = try World()
    _ = try world.modify([
      fresh(
        "a", ["title": .string("The Crème brûlée"), "body": .string("to be or not")], type: "Item"),
      fresh(
        "b", ["title": .string("CREME"), "body": .string("Brulee, à la carte!")], type: "Item"),
      fresh(
        "c", ["title": .string("creme\u{301}rie"), "tags": texts("Łódź", "Ёлка")], type: "Item"),
      fresh("d", ["title": .string("東京 2024"), "count": .int64(7)], type: "Item"),
    ])
    var secret = fresh("e", type: "Item")
    secret.changes = [.init(key: "secret", field: Field(.string("creme"), isEncrypted: true))]
    _ = try world.modify([secret])
    let rows: [(String, Query.Filter.Comparator, FieldValue, String)] = [
      ("", .containsAllTokens, .string("creme BRÛLÉE"), "a b"),
      ("", .containsAllTokens, .string("crème the"), "a b"),
      ("", .containsAnyTokens, .string("carte brulee"), "a b"),
      ("", .containsAnyTokens, texts("carte", "2024"), "b d"),
      ("title", .containsAllTokens, .string("creme brulee"), "a"),
      ("title", .containsAnyTokens, .string("brulee"), "a"),
      ("", .containsAllTokens, .string("cremerie"), "c"),
      ("", .containsAllTokens, .string("cremeri"), ""),
      ("tags", .containsAllTokens, .string("lodz елка"), "c"),
      ("", .containsAllTokens, .string("京"), "d"), ("", .containsAllTokens, .string("7"), ""),
      ("", .containsAllTokens, .string("to be or not the"), "a b c d e"),
      ("", .containsAnyTokens, .string("to be or not the"), ""),
      ("nothing", .containsAllTokens, .string("creme"), ""),
    ]
    for (key, comparator, value, names) in rows {
      let found = try world.find([filter(key, comparator, value)])
      if found != names { Issue.record("\(key) \(comparator) \(value): \(found), not \(names)") }
    }
  }

  /// Proves CS-79.
  @Test("System fields of a record can be queried and sorted by")
  func systemFieldsAreQueryableAndSortable() throws {
    let world = try World()
    _ = try world.modify([fresh("p", type: "Item"), fresh("c", parent: "p", type: "Item")])
    world.now.secondsSinceReferenceDate += 100
    _ = try world.modify([fresh("late", type: "Item")])
    let first = try #require(try world.stored("c")?.created?.time)
    let me = FieldValue.reference(
      Reference(target: RecordID(name: world.alice.rawValue, zone: .default), action: .none))
    let rows: [(SystemField, Query.Filter.Comparator, FieldValue, String)] = [
      (.recordID, .equals, pointer("p"), "p"), (.recordID, .equals, .string("p"), "p"),
      (.recordID, .equals, .string("P"), ""), (.recordID, .isIn, texts("c", "late"), "c late"),
      (.recordID, .isIn, .list([pointer("c"), pointer("x")]), "c"),
      (.recordID, .beginsWith, .string("l"), "late"), (.created, .equals, .date(first), "c p"),
      (.created, .greaterThan, .date(first), "late"),
      (.modified, .lessThanOrEquals, .date(first), "c p"),
      (.createdBy, .equals, me, "c late p"), (.createdBy, .notEquals, me, ""),
      (.createdBy, .equals, .string(ZoneID.currentOwner), "c late p"),
      (.modifiedBy, .equals, .string(world.bob.rawValue), ""),
      (.parent, .equals, pointer("p"), "c"), (.parent, .notEquals, pointer("p"), "late p"),
      (.share, .equals, pointer("s"), ""),
    ]
    for (field, comparator, value, names) in rows {
      let found = try world.find([filter(field.rawValue, comparator, value)])
      if found != names { Issue.record("\(field) \(comparator): \(found), not \(names)") }
    }
    #expect(
      try world.find([], [by("___createTime", ascending: false), by("___recordID")]) == "late c p")
    #expect(
      try world.find([], [by("___parent"), by("___recordID", ascending: false)]) == "p late c")
  }

  /// Proves CS-83.
  @Test("Records sort by several levels, without case, missing first, by distance and last by ID")
  func sortOrderUsesLevelsDistanceAndID() throws {
    let world = try QueryTests.items()
    let origin = Location(latitude: 45, longitude: 9)
    let rows: [([Query.Sort], String)] = [
      ([by("text")], "d a b c"), ([by("text", ascending: false)], "c b a d"),
      ([by("count")], "d c a b"), ([by("ratio")], "d c a b"),
      ([by("ratio", ascending: false)], "b a c d"), ([by("nothing")], "a b c d"),
      ([by("place", from: origin)], "c d b a"),
      ([by("place", ascending: false, from: origin)], "a b c d"),
      ([by("date"), by("count", ascending: false)], "c d a b"), ([by("link")], "c d a b"),
      ([by("data")], "c d b a"),
    ]
    for (sorts, names) in rows {
      for limit in [nil, 1, 3] {
        let found = try world.find([], sorts, limit: limit)
        if found != names { Issue.record("\(sorts): \(found), not \(names)") }
      }
    }
  }

  /// Proves CS-81.
  @Test("A query covers one zone, a private database or the public zone, with wanted fields only")
  func queryCoversRequestedZonesAndFields() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    for (index, zone) in [World.zone, second, .default].enumerated() {
      _ = try world.modify([
        fresh("r\(index)", ["n": .int64(Int64(index)), "m": .int64(9)], zone: zone, type: "Item")
      ])
    }
    _ = try world.modify([fresh("theirs", zone: World.zone, type: "Item")], as: world.stranger)
    #expect(try world.find() == "r0")
    #expect(try world.find(zone: second) == "r1")
    #expect(try world.find(zone: .default) == "r2")
    #expect(try world.find(zone: nil, limit: 1) == "r1 r0 r2", "by zone, then by name")
    #expect(try world.find([], [by("n", ascending: false)], zone: nil, limit: 1) == "r2 r1 r0")
    #expect(try world.find(as: world.stranger) == "theirs")
    #expect(try world.find(zone: ZoneID(name: "N")) == "! zoneNotFound")
    #expect(try world.find(zone: nil, in: .shared) == "! invalidArguments")
    let shared = QueryRecords(query: Query(recordType: "Item"))
    #expect(
      try world.ask(.queryRecords(shared), in: .shared).result.failure?.message
        .hasPrefix("SharedDB does not support Zone Wide queries") == true)
    _ = try world.say(.modifyZones(ModifyZones(delete: [second])))
    #expect(try world.find(zone: nil) == "r0 r2")
    #expect(try world.find(zone: second) == "! zoneNotFound")
    _ = try world.modify([fresh("open", zone: .default, type: "Item")], in: .public)
    #expect(try world.find(zone: nil, as: world.guest, in: .public) == "open")
    #expect(try world.find(zone: nil, as: world.guest) == "! notAuthenticated")
    let page = try world.query(Query(recordType: "Item"), fields: .keys(["m"]))
    #expect(page.records.first?.fields == ["m": .int64(9)])
    #expect(
      try world.query(Query(recordType: "Item", sorts: [by("n")]), fields: .none).records.first?
        .fields.isEmpty == true)
    #expect(try world.find(type: "Unknown") == "", "a type that nobody saved has no records")
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
