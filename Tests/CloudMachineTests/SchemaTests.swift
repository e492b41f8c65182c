import CloudMachine
import CloudProtocol
import Records
import Testing

/// What record types look like, once and for ever.
///
/// Rules: CS-7 to CS-29 and CS-125 to CS-139.
struct SchemaTests {
  private static func save(
    _ name: String, _ value: FieldValue, encrypted: Bool = false, type: String = "Item"
  ) -> RecordSave {
    var save = fresh(name, type: type)
    save.changes = [.init(key: "v", field: Field(value, isEncrypted: encrypted))]
    return save
  }

  /// Proves CS-121.
  @Test("A field keeps the kind of its first save, in all zones and for all users")
  func fieldKeepsKindOfFirstSave() throws {
    let world = try World()
    let rows: [(FieldValue, Bool, FieldValue, Bool, String)] = [
      (.string("x"), false, .string("y"), false, "ok"),
      (.string("x"), false, .int64(1), false, "invalidArguments"),
      (.int64(1), false, .double(1), false, "invalidArguments"),
      (.string("x"), false, .string("x"), true, "invalidArguments"),
      (.string("x"), true, .string("x"), false, "invalidArguments"),
      (.string("x"), false, .list([.string("x")]), false, "invalidArguments"),
      (.list([.string("x")]), false, .list([]), false, "ok"),
      (.list([.string("x")]), false, .list([.int64(1)]), false, "invalidArguments"),
      (.list([.int64(1)]), false, .int64(1), false, "invalidArguments"),
    ]
    for (index, row) in rows.enumerated() {
      let type = "T\(index)"
      func save(_ name: String, _ value: FieldValue, _ encrypted: Bool) -> RecordSave {
        SchemaTests.save(name, value, encrypted: encrypted, type: type)
      }
      #expect(try world.modify([save("a\(index)", row.0, row.1)]) == "+a\(index) ok")
      #expect(
        try world.modify([save("b\(index)", row.2, row.3)]) == "+b\(index) \(row.4)", "\(row)")
      #expect(
        try world.modify([save("a\(index)", row.2, row.3)], as: world.stranger)
          == "+a\(index) \(row.4)", "\(row)")
      #expect(try world.modify(delete: [id("a\(index)")]) == "-a\(index) ok")
      #expect(
        try world.modify([save("c\(index)", row.2, row.3)]) == "+c\(index) \(row.4)",
        "also when no record is left")
    }
    let elsewhere = ModifyRecords(save: [SchemaTests.save("p", .int64(1), type: "T0")])
    _ = try world.ask(
      .modifyZones(ModifyZones(save: [World.zone])), environment: .production)
    #expect(
      try world.ask(.modifyRecords(elsewhere), environment: .production).result.words == "+p ok",
      "the other world has a schema of its own")
  }

  @Test("A new field has one kind in all zones of the request that creates it")
  func newFieldHasOneKindInAllZones() throws {
    let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
    let world = try World(zones: [World.zone] + zones)
    func save(_ name: String, _ key: String, _ value: FieldValue, _ zone: ZoneID) -> RecordSave {
      var save = fresh(name, zone: zone)
      save.changes = [.init(key: key, field: Field(value))]
      return save
    }
    let saves = [
      save("a", "v", .string("x"), zones[0]), save("b", "v", .int64(1), zones[1]),
      save("c", "w", .int64(1), zones[1]), save("d", "w", .int64(2), zones[2]),
    ]
    #expect(
      try world.modify(saves) == "+a ok, +b invalidArguments, +c batchRequestFailed, +d ok")
    let later = [save("e", "v", .string("x"), zones[2]), save("f", "w", .string("x"), zones[0])]
    #expect(try world.modify(later) == "+e ok, +f invalidArguments")
  }

  /// Proves CS-122.
  @Test("An empty list cannot create a field, and a failed save adds nothing to the schema")
  func failedSaveAddsNothingToSchema() throws {
    let world = try World()
    #expect(try world.modify([SchemaTests.save("a", .list([]))]) == "+a invalidArguments")
    var first = SchemaTests.save("a", .int64(1))
    first.changeTag = ChangeTag("stale")
    #expect(try world.modify([first]) == "+a unknownItem")
    #expect(
      try world.modify([SchemaTests.save("a", .int64(1)), fresh("b", tag: "stale")])
        == "+a batchRequestFailed, +b unknownItem")
    #expect(
      try world.modify(
        [SchemaTests.save("a", .string("x")), SchemaTests.save("b", .int64(1))], isAtomic: false)
        == "+a ok, +b invalidArguments", "the first of the request decides")
    #expect(try world.modify([SchemaTests.save("b", .int64(1))]) == "+b invalidArguments")
    #expect(try world.modify([SchemaTests.save("b", .string(""))]) == "+b ok")
  }

  @Test("A save that is too large fixes no kind for the saves after it")
  func tooLargeSaveFixesNoKind() throws {
    let world = try World()
    let large = fresh(
      "a", ["x": .int64(1), "y": .bytes(Array(repeating: 0, count: 1 << 20))], type: "New")
    let next = fresh("b", ["x": .string("s")], type: "New")
    #expect(try world.modify([large, next], isAtomic: false) == "+a limitExceeded, +b ok")
  }

  /// Proves SC-80.
  @Test("An edit by an older client keeps the fields that only newer clients know")
  func olderClientEditKeepsUnknownFields() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["old": .int64(1), "new": .string("x")], type: "Item")])
    var save = fresh("a", ["old": .int64(2)], type: "Item")
    save.changeTag = try world.stored("a")?.changeTag
    #expect(try world.modify([save]) == "+a ok")
    #expect(try world.stored("a")?.fields == ["old": .int64(2), "new": .string("x")])
  }

  /// Proves CS-123, CS-124.
  @Test("After deployment, production takes no new types and fields until the next deployment")
  func deployedProductionSchemaIsFixed() throws {
    let world = try World()
    _ = try world.ask(.modifyZones(ModifyZones(save: [World.zone])), environment: .production)
    func production(_ save: RecordSave) throws -> String {
      try world.ask(
        .modifyRecords(ModifyRecords(save: [save], policy: .allKeys)), environment: .production
      ).result.words
    }
    _ = try world.modify([SchemaTests.save("a", .int64(1))])
    #expect(try production(SchemaTests.save("p", .int64(1), type: "Early")) == "+p ok")
    try world.machine.deploySchema(of: World.container, in: world.storage)
    #expect(try production(SchemaTests.save("a", .int64(1))) == "+a ok")
    #expect(try production(SchemaTests.save("a", .string("x"))) == "+a invalidArguments")
    #expect(try production(fresh("b", ["w": .int64(1)], type: "Item")) == "+b invalidArguments")
    #expect(try production(fresh("c", type: "Other")) == "+c serverRejectedRequest")
    #expect(try production(fresh("d", type: "Early")) == "+d ok")
    #expect(
      try world.modify([fresh("b", ["w": .int64(1)], type: "Item"), fresh("c", type: "Other")])
        == "+b ok, +c ok")
    try world.machine.deploySchema(of: World.container, in: world.storage)
    #expect(try production(fresh("b", ["w": .int64(1)], type: "Item")) == "+b ok")
    #expect(try production(fresh("c", type: "Other")) == "+c ok")
    func find(_ key: String, type: String, _ environment: CloudEnvironment) throws -> String {
      let query = Query(recordType: type, filters: [filter(key, .equals, .int64(1))])
      return try world.ask(
        .queryRecords(QueryRecords(query: query, zone: World.zone)), environment: environment
      ).result.words
    }
    #expect(try find("w", type: "Nope", .production) == "! unknownItem")
    #expect(try find("nope", type: "Item", .production) == "! invalidArguments")
    #expect(try !find("w", type: "Item", .production).contains("!"))
    #expect(try !find("nope", type: "Nope", .development).contains("!"), "it may come")
    _ = try world.modify([SchemaTests.save("e", .string("x"), type: "Early")])
    #expect(throws: CloudError.self) {
      try world.machine.deploySchema(of: World.container, in: world.storage)
    }
  }

  @Test("A server can be configured not to enforce field kinds")
  func kindCheckingCanBeDisabled() throws {
    var limits = CloudLimits()
    limits.fixesFieldKinds = false
    let world = try World(limits: limits)
    #expect(
      try world.modify([
        SchemaTests.save("a", .int64(1)), SchemaTests.save("b", .string("x")),
        SchemaTests.save("c", .list([])),
      ]) == "+a ok, +b ok, +c ok")
    #expect(try world.find([filter("v", .equals, .string("X"))]) == "b")
    #expect(try world.find([], [by("v")]) == "c a b", "numbers come before texts")
  }
}
