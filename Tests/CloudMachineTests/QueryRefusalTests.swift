import CloudMachine
import CloudProtocol
import Records
import Testing

/// Queries that make no sense, and what is said of them.
///
/// Rules: CS-71 to CS-90.
struct QueryRefusalTests {
  private static func world() throws -> World {
    let world = try World()
    var save = fresh(
      "a",
      [
        "text": .string("x"), "count": .int64(1), "tags": texts("x"),
        "place": .location(Location(latitude: 0, longitude: 0)), "link": pointer("x"),
      ], type: "Item")
    save.changes.append(.init(key: "secret", field: Field(.string("s"), isEncrypted: true)))
    let upload = UploadAsset(recordType: "Item", key: "file", content: [1])
    guard case .assetUploaded(let asset) = try world.ask(.uploadAsset(upload)).reply() else {
      throw Unexpected()
    }
    save.changes.append(.init(key: "file", field: Field(.asset(asset))))
    #expect(try world.modify([save]) == "+a ok")
    return world
  }

  @Test("A filter that does not suit its field or comparator is refused and named")
  func unsuitableFilterIsRefusedByName() throws {
    let world = try QueryRefusalTests.world()
    let place = FieldValue.location(Location(latitude: 0, longitude: 0))
    let date = FieldValue.date(Timestamp(secondsSinceReferenceDate: 0))
    let rows: [Query.Filter] = [
      filter("text", .equals, .int64(1)), filter("text", .isIn, .string("x")),
      filter("text", .isIn, .list([.int64(1)])), filter("text", .beginsWith, .int64(1)),
      filter("text", .listContains, .string("x")), filter("count", .equals, .string("1")),
      filter("count", .beginsWith, .string("1")), filter("count", .lessThan, date),
      filter("tags", .equals, .string("x")), filter("tags", .lessThan, .string("x")),
      filter("tags", .listContains, .int64(1)), filter("tags", .listContainsAny, .string("x")),
      filter("tags", .listMemberBeginsWith, .int64(1)),
      filter("text", .listMemberBeginsWith, .string("x")), filter("place", .equals, place),
      filter("place", .near, place), filter("place", .near, .int64(1), distance: 1),
      filter("place", .near, place, distance: -1), filter("place", .near, place, distance: .nan),
      filter("place", .near, place, distance: .infinity),
      filter("text", .near, place, distance: 1), filter("link", .lessThan, pointer("x")),
      filter("link", .equals, .string("x")), filter("file", .equals, .string("x")),
      filter("file", .equals, .asset(Asset(checksum: "", size: 0))),
      filter("secret", .equals, .string("s")), filter("secret", .containsAllTokens, .string("s")),
      filter("count", .containsAllTokens, .string("1")),
      filter("text", .containsAllTokens, .int64(1)),
      filter("___createTime", .equals, .string("x")), filter("___recordID", .equals, .int64(1)),
      filter("___recordID", .lessThan, pointer("x")), filter("___device", .equals, .string("x")),
      filter("text", .equals, .list([.list([])])),
    ]
    for row in rows {
      let message = try world.refusal([row])
      let label = row.key.hasPrefix("___") ? row.comparator.rawValue : "'\(row.key)'"
      let isNamed = message.contains(label) || message.contains("'\(row.key)'")
      if !isNamed { Issue.record("\(row): \(message)") }
    }
    #expect(
      try world.refusal([filter("", .equals, .string("x"))]).contains("not the name of a field"))
    #expect(
      try world.refusal([filter("", .containsAnyTokens, .int64(1))]).contains("whole record"))
  }

  @Test("An impossible sort order is refused and named")
  func impossibleSortOrderIsRefusedByName() throws {
    let world = try QueryRefusalTests.world()
    let place = Location(latitude: 0, longitude: 0)
    for sort in [
      by("tags"), by("file"), by("secret"), by("place"), by("text", from: place),
      by("___createTime", from: place), by("___x"), by(""),
    ] {
      let message = try world.refusal([], [sort])
      let label = sort.key == "___createTime" ? "creationDate" : sort.key
      if !message.contains("'\(label)'") { Issue.record("\(sort): \(message)") }
    }
  }

  /// Proves CS-80.
  @Test("Queries for types that cannot be queried, and with invalid limits, are refused")
  func invalidQueryRequestsAreRefused() throws {
    let world = try QueryRefusalTests.world()
    #expect(try world.refusal(type: "Users").contains("Users"))
    for type in ["", "my type", "_x", "9"] {
      #expect(try world.refusal(type: type).contains("record type"), "\(type)")
    }
    #expect(try world.find(type: "cloudkit.share") == "")
    #expect(try world.find(limit: -1) == "! invalidArguments")
    #expect(
      try world.say(
        .queryRecords(QueryRecords(query: Query(recordType: "Item"), zone: World.zone)),
        as: Caller(user: world.alice, device: "d", availability: .temporarilyUnavailable))
        == "! accountTemporarilyUnavailable")
  }

  /// Proves CS-82, WS-51.
  @Test("Indexes are required only where an administrator configures them")
  func indexesAreRequiredOnlyWhenConfigured() throws {
    let world = try QueryRefusalTests.world()
    let type = RecordTypeID(
      container: World.container, environment: .development, name: "Item")
    func set(_ indexes: FieldIndexes, _ key: String) throws {
      try world.machine.setIndexes(indexes, of: key, recordType: type, in: world.storage)
    }
    let words = filter("text", .containsAllTokens, .string("x"))
    try set([.sortable], "text")
    #expect(
      try world.refusal([filter("text", .equals, .string("x"))])
        == "Field 'text' is not marked queryable")
    #expect(try world.refusal([words]) == "Field 'text' is not marked searchable")
    #expect(try world.find([], [by("text")]) == "a")
    #expect(try world.find([filter("", .containsAllTokens, .string("x"))]) == "a", "by the tags")
    try set([], "tags")
    #expect(try world.find([filter("", .containsAllTokens, .string("x"))]) == "")
    try set([.queryable, .searchable], "text")
    #expect(try world.refusal([], [by("text")]) == "Field 'text' is not marked sortable")
    #expect(try world.find([words]) == "a")
    try set([], SystemField.recordID.rawValue)
    #expect(try world.refusal() == "Field 'recordName' is not marked queryable")
    #expect(try world.find([words]) == "a", "only a query for everything needs it")
    #expect(try world.modify([fresh("b", ["more": .string("y")], type: "Item")]) == "+b ok")
    #expect(try world.refusal() == "Field 'recordName' is not marked queryable", "it stays so")
  }
}
