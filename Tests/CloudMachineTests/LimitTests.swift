import CloudMachine
import CloudProtocol
import Records
import Testing

/// How much the cloud takes, and what names look like.
///
/// Rules: CS-125 to CS-139.
struct LimitTests {
  /// Proves CS-134, CS-135, WS-58.
  @Test("The default limits are the published limits")
  func defaultLimitsMatchPublishedLimits() {
    let limits = CloudLimits()
    #expect(limits.itemsPerRequest == 400 && limits.requestBytes == 2 << 20)
    #expect(limits.recordBytes == 1 << 20 && limits.assetBytes == 50 << 20)
    #expect(limits.zoneChangesPage == 200 && limits.databaseChangesPage == 200)
    #expect(limits.queryPage == 100 && limits.queryPageMaximum == 200)
    #expect(limits.nameLength == 255 && limits.keyLength == 255)
    #expect(limits.owningReferences == 750 && limits.shareParticipants == 100)
    #expect(limits.subscriptionKeys == 3 && limits.throttle == nil)
  }

  /// Proves CE-64, CS-134, SC-16, SC-17, SC-151.
  @Test("400 items are accepted and 401 are limitExceeded as a whole, in saves and fetches")
  func moreThan400ItemsExceedRequestLimit() throws {
    let world = try World()
    let saves = (0..<400).map { fresh("r\($0)") }
    let extra = fresh("extra")
    #expect(try world.modify(saves + [extra]) == "! limitExceeded")
    #expect(try world.modify(saves, delete: [extra.id]) == "! limitExceeded")
    #expect(try world.names().isEmpty)
    #expect(try world.modify(saves).hasSuffix("+r399 ok"))
    let ids = saves.map(\.id)
    #expect(try world.say(.fetchRecords(FetchRecords(ids: ids + [extra.id]))) == "! limitExceeded")
    #expect(try world.say(.fetchRecords(FetchRecords(ids: ids))).hasSuffix("r399 ok"))
    let zones = (0...400).map { ZoneID(name: "z\($0)") }
    #expect(try world.say(.modifyZones(ModifyZones(save: zones))) == "! limitExceeded")
  }

  /// Proves CE-64, CS-134.
  @Test("A request is limited to 2 MB and a stored record to 1 MB, exact to the byte")
  func requestAndRecordByteLimitsAreExact() throws {
    let world = try World()
    let megabyte = 1024 * 1024
    // The name, the type and the field's name count too.
    func save(_ name: String, key: String = "k", _ total: Int) -> RecordSave {
      fresh(name, [key: .bytes(Array(repeating: 7, count: total - name.utf8.count - 4 - 1))])
    }
    #expect(try world.modify([save("a", megabyte + 1)]) == "+a limitExceeded")
    #expect(try world.modify([save("a", megabyte), save("b", megabyte)]) == "+a ok, +b ok")
    #expect(
      try world.modify([save("c", megabyte), save("d", megabyte)], delete: [id("x")])
        == "! limitExceeded")
    let growing = fresh("a", ["l": .int64(1)])
    #expect(try world.modify([growing], policy: .changedKeys) == "+a limitExceeded")
  }

  /// Proves CS-252, TH-18.
  @Test("A request asks for at most so many fields, whatever it reads or changes")
  func desiredKeysAreLimited() throws {
    var limits = CloudLimits()
    limits.desiredKeys = 2
    let world = try World(limits: limits)
    _ = try world.modify([fresh("a", ["k": .int64(1), "l": .int64(2)])])
    _ = try world.modify([world.share(of: "a"), try world.edit("a")])
    let url = try world.url()
    func requests(_ fields: FieldSelection) -> [CloudRequest] {
      [
        .fetchRecords(FetchRecords(ids: [id("a")], fields: fields)),
        .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil, fields: fields)),
        .queryRecords(
          QueryRecords(query: Query(recordType: "Note"), zone: World.zone, fields: fields)),
        .modifyRecords(ModifyRecords(save: [fresh("b")], policy: .changedKeys, fields: fields)),
        .resolveShares(ResolveShares(urls: [url], rootFields: fields)),
      ]
    }
    for request in requests(.keys(["k", "x", "y"])) {
      #expect(try world.say(request) == "! limitExceeded", "\(request.name)")
    }
    #expect(try world.stored("b") == nil)
    for request in requests(.keys(["k", "x"])) {
      #expect(try !world.say(request).contains("!"), "\(request.name)")
    }
  }

  /// A world in which the second of the records reaches the limit of a reply.
  private func worldOfLargeRecords(_ names: String...) throws -> World {
    var limits = CloudLimits()
    limits.replyBytes = 1_000
    let world = try World(limits: limits)
    let bytes = FieldValue.bytes(Array(repeating: 0, count: 600))
    _ = try world.modify(names.map { fresh($0, ["k": bytes]) })
    return world
  }

  /// Proves CS-253, TH-18.
  @Test("A reply holds no further records after so many bytes, in fetches and of shares")
  func repliesAreLimitedByBytes() throws {
    let world = try worldOfLargeRecords("a", "b", "c")
    for fields in [FieldSelection.all, .none, .keys(["n"])] {
      let ids = ["a", "a", "b", "none"].map { id($0) } + [id("a", ZoneID(name: "N"))]
      #expect(
        try world.say(.fetchRecords(FetchRecords(ids: ids, fields: fields)))
          == "a ok, a ok, b limitExceeded, none limitExceeded, a zoneNotFound")
    }
    for name in ["a", "b", "c"] {
      _ = try world.modify([world.share("S\(name)", of: name), try world.edit(name)])
    }
    let urls = try ["Sa", "Sb", "Sc"].map { try world.url($0) }
    guard
      case .sharesResolved(let results) = try world.ask(
        .resolveShares(ResolveShares(urls: urls, rootFields: FieldSelection.none))
      ).reply()
    else { throw Unexpected() }
    #expect(results.map { $0.error?.code } == [nil, nil, .limitExceeded])
  }

  /// Proves CS-253, TH-18.
  @Test("A reply holds no further server records of conflicts after so many bytes")
  func serverRecordsOfConflictsAreLimitedByBytes() throws {
    let names = ["a", "b", "c"]
    let world = try worldOfLargeRecords("a", "b", "c", "d")
    for isAtomic in [true, false] {
      var request = ModifyRecords(
        save: names.map { fresh($0) }, delete: [id("d")], isAtomic: isAtomic)
      request.deleteTags = [id("d"): ChangeTag("old")]
      guard
        case .recordsModified(let saved, let deleted) = try world.ask(
          .modifyRecords(request)
        ).reply()
      else { throw Unexpected() }
      #expect(
        saved.map { $0.error?.code }
          == [.serverRecordChanged, .serverRecordChanged, .batchRequestFailed])
      #expect(saved.map { $0.error?.serverRecord?.id.name } == ["a", "b", nil])
      #expect(deleted.map { $0.error?.code } == [.batchRequestFailed])
    }
  }

  /// Proves CS-27, CS-28, CS-29, CS-30, SC-38, TH-14.
  @Test("Invalid names of records, zones, record types and keys are refused")
  func invalidNamesAreRefused() throws {
    let world = try World()
    let long = String(repeating: "n", count: 255)
    let records: [(String, Bool)] = [
      ("a", true), (long, true), (long + "n", false), ("", false), ("_a", false), ("a_", true),
      ("a b/../%2e:", true), ("é", false), ("a\u{0}", false), ("a\n", false), ("🙂", false),
    ]
    for (name, isFine) in records {
      #expect(
        try world.modify([fresh(name)]) == "+\(name) \(isFine ? "ok" : "invalidArguments")",
        "\(name)")
      #expect(
        try world.say(.modifyZones(ModifyZones(save: [ZoneID(name: name)])))
          == "+\(name) \(isFine ? "ok" : "invalidArguments")", "\(name)")
      if !isFine {
        // Asking for or deleting what can't exist is no error of its own.
        #expect(try world.modify(delete: [id(name)]) == "-\(name) ok")
        #expect(
          try world.say(.fetchRecords(FetchRecords(ids: [id(name)]))) == "\(name) unknownItem")
      }
    }
    let types: [(String, Bool)] = [
      ("T", true), (long, true), (long + "n", false), ("", false), ("_T", false), ("T_1", true),
      ("1T", false), ("T T", false), ("Té", false), ("cloudkit.share", false),
    ]
    for (type, isFine) in types {
      #expect(
        try world.modify([fresh("t", type: type)], delete: []).hasSuffix(
          isFine ? "ok" : "invalidArguments"), "\(type)")
      #expect(
        try world.modify([fresh("t2", [type: .int64(1)])], policy: .changedKeys).hasSuffix(
          isFine ? "ok" : "invalidArguments"), "\(type)")
      _ = try world.modify(delete: [id("t"), id("t2")])
    }
  }

  /// Proves CS-15.
  @Test("A list holds values of one kind, and references are never encrypted")
  func listHoldsValuesOfOneKind() throws {
    let world = try World()
    let reference = FieldValue.reference(Reference(target: id("a"), action: .none))
    let values: [(FieldValue, isEncrypted: Bool, isFine: Bool)] = [
      (.list([]), false, false), (.list([.int64(1), .int64(2)]), true, true),
      (.list([.int64(1), .string("x")]), false, false), (.list([.list([])]), false, false),
      (reference, false, true), (reference, true, false), (.list([reference]), true, false),
      (.string("x"), true, true), (.double(.infinity), false, true),
    ]
    for (index, (value, isEncrypted, isFine)) in values.enumerated() {
      var save = fresh("a")
      // A field keeps the kind of its first save, so each value has a field of its own.
      save.changes = [.init(key: "v\(index)", field: Field(value, isEncrypted: isEncrypted))]
      #expect(
        try world.modify([save], policy: .allKeys) == "+a \(isFine ? "ok" : "invalidArguments")",
        "\(value)")
      if isFine {
        #expect(
          try world.stored("a")?.fields["v\(index)"] == Field(value, isEncrypted: isEncrypted))
      }
    }
  }

  /// Proves CS-127.
  @Test("The same record twice in one request fails the call")
  func duplicateRecordFailsWholeCall() throws {
    let world = try World()
    let own = ZoneID(name: "Z", owner: world.alice.rawValue)
    #expect(try world.modify([fresh("a"), fresh("a")]) == "! invalidArguments")
    #expect(try world.modify([fresh("a")], delete: [id("a")]) == "! invalidArguments")
    #expect(try world.modify(delete: [id("a"), id("a")]) == "! invalidArguments")
    #expect(try world.modify([fresh("a"), fresh("a", zone: own)]) == "! invalidArguments")
    #expect(try world.modify([fresh("a"), fresh("a", zone: .default)]) == "+a ok, +a ok")
    #expect(
      try world.say(.modifyZones(ModifyZones(save: [World.zone], delete: [World.zone])))
        == "! invalidArguments")
  }

  @Test("Each element of a list counts, so that lists of empty values have a limit")
  func emptyElementsOfListsCount() throws {
    let world = try World()
    func save(_ count: Int) throws -> String {
      let elements = Array(repeating: FieldValue.string(""), count: count)
      return try world.modify([fresh("a", ["l": .list(elements)])], policy: .allKeys)
    }
    #expect(try save((1 << 17) + 1) == "+a limitExceeded")
    #expect(try save((1 << 17) - 1) == "+a ok")
    #expect(try world.storage.database(world.database)?.byteCount == (1 << 20) - 8 + 6)
  }

  @Test("A save that fails otherwise counts nothing toward the quota, in either direction")
  func failedSaveCountsNothingTowardTheQuota() throws {
    let world = try World()
    func note(_ name: String, _ count: Int, owners: [String] = []) -> RecordSave {
      fresh(name, ["k": .bytes(Array(repeating: 1, count: count))], owners: owners)
    }
    _ = try world.modify([note("a", 994)])
    try world.machine.setQuota(2000, of: world.alice, in: world.storage)
    #expect(
      try world.modify([note("b", 594, owners: ["missing"]), note("c", 594)], isAtomic: false)
        == "+b referenceViolation, +c ok")
    #expect(try world.modify([note("d", 394)]) == "+d ok")
    #expect(try world.storage.database(world.database)?.byteCount == 2000)
    let smaller = note("a", 94, owners: ["missing"])
    #expect(
      try world.modify([smaller, note("e", 494)], policy: .changedKeys, isAtomic: false)
        == "+a referenceViolation, +e quotaExceeded")
    // In an atomic request, deletions free quota for the saves.
    #expect(
      try world.modify([note("e", 494)], delete: [id("c")], isAtomic: false)
        == "+e quotaExceeded, -c ok")
    #expect(try world.modify([note("e", 594)]) == "+e ok")
    #expect(try world.modify([note("f", 394)], delete: [id("d")]) == "+f ok, -d ok")
    #expect(
      try world.modify([note("g", 395)], delete: [id("f")])
        == "+g quotaExceeded, -f batchRequestFailed")
    #expect(try world.storage.database(world.database)?.byteCount == 2000)
  }

  /// Proves CS-133, CS-137, FB-5.
  @Test("Quota is checked per item, for growth only, and not used by a failed atomic zone")
  func quotaCountsOnlyGrowthPerItem() throws {
    let world = try World()
    func note(_ name: String, _ count: Int) -> RecordSave {
      fresh(name, ["k": .bytes(Array(repeating: 1, count: count))])
    }
    _ = try world.modify([note("a", 994)])  // 1000 bytes with its name, type and key
    #expect(try world.storage.database(world.database)?.byteCount == 1000)
    try world.machine.setQuota(2000, of: world.alice, in: world.storage)
    #expect(
      try world.modify([note("b", 594), note("c", 594)], isAtomic: false)
        == "+b ok, +c quotaExceeded")
    #expect(
      try world.modify([note("d", 194), note("e", 594)])
        == "+d batchRequestFailed, +e quotaExceeded"
    )
    #expect(
      try world.modify(
        [fresh("child", parent: "big"), note("big", 900)], isAtomic: false)
        == "+child quotaExceeded, +big quotaExceeded")
    // 1,600 bytes are used: one byte too many, and then exactly the quota.
    #expect(try world.modify([note("f", 395)]) == "+f quotaExceeded")
    #expect(try world.modify([note("f", 394)]) == "+f ok")
    #expect(try world.storage.database(world.database)?.byteCount == 2000)
    #expect(try world.modify(delete: [id("f")]) == "-f ok")
    try world.machine.setQuota(10, of: world.alice, in: world.storage)
    #expect(try world.modify([note("a", 994)], policy: .allKeys) == "+a ok")
    #expect(try world.modify([note("a", 500)], policy: .allKeys) == "+a ok")
    #expect(try world.modify([note("a", 501)], policy: .allKeys) == "+a quotaExceeded")
    #expect(try world.modify(delete: [id("a"), id("b")]) == "-a ok, -b ok")
    #expect(try world.storage.database(world.database)?.byteCount == 0)
    try world.machine.setQuota(nil, of: world.alice, in: world.storage)
    #expect(try world.modify([note("e", 5000)]) == "+e ok")
    #expect(throws: CloudError.self) {
      try world.machine.setQuota(1, of: UserID("_nobody"), in: world.storage)
    }
  }
}
