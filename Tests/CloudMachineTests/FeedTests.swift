import CloudMachine
import CloudProtocol
import Records
import Testing

/// Change feeds and their tokens.
///
/// Rules: CS-140 to CS-149; invariants I8, I9, I10.
struct FeedTests {
  /// Proves CE-43, CS-142, CS-143, I8, SC-149.
  @Test("A feed lists each changed record once, own writes included, and deletions with type")
  func feedListsEachChangedRecordOnce() throws {
    let world = try World()
    _ = try world.modify([fresh("a"), fresh("b", type: "Other")])
    let first = try world.page()
    #expect(first.words == "a, b" && first.zone == World.zone)
    _ = try world.modify([try world.edit("a", ["n": .int64(1)])], as: world.laptop)
    _ = try world.modify([try world.edit("a", ["n": .int64(2)]), fresh("c"), fresh("d")])
    _ = try world.modify(delete: [id("b"), id("d")])
    let second = try world.page(first.token)
    #expect(second.words == "a, c, -b, -d")
    #expect(second.modified.first?.fields["n"]?.value == .int64(2))
    #expect(second.deleted.first == RecordDeletion(id: id("b"), type: "Other"))
    let third = try world.page(second.token)
    #expect(third.words == "" && third.token == second.token)
    _ = try world.modify([fresh("b")])
    #expect(try world.page(second.token).words == "b", "a record made again is a change")
    #expect(try world.page(first.token).words == "a, c, b, -d")
  }

  /// Proves CS-144, SC-148.
  @Test("A first fetch reports only deletions of its device's records or made during the fetch")
  func firstFetchOmitsForeignDeletions() throws {
    let world = try World()
    _ = try world.modify((0..<6).map { fresh("r\($0)") })
    _ = try world.modify(delete: [id("r0")])
    _ = try world.modify(delete: [id("r1")], as: world.laptop)
    #expect(try world.page().words == "r2, r3, r4, r5, -r0, -r1")
    #expect(try world.page(as: world.laptop).words == "r2, r3, r4, r5")
    #expect(
      try world.page(as: Caller(user: world.alice, device: "third")).words == "r2, r3, r4, r5")
    let third = Caller(user: world.alice, device: "third")
    let one = try world.page(limit: 2, as: third)
    #expect(one.words == "r2, r3, more")
    _ = try world.modify(delete: [id("r2"), id("r5")], as: world.laptop)
    let two = try world.page(one.token, limit: 2, as: third)
    #expect(two.words == "r4, -r2, more")
    #expect(try world.page(two.token, limit: 2, as: third).words == "-r5")
  }

  /// Proves CS-48, CS-145, I9, SC-114, SC-150, WS-58.
  @Test(
    "Pages of every size contain each record once, also when records change between them")
  func pagesContainEachRecordOnce() throws {
    let world = try World()
    _ = try world.modify((0..<25).map { fresh("r\($0)") })
    for limit in [1, 2, 7, 24, 25, 26, 1000] {
      var token: ChangeToken?
      var seen: [String] = []
      var more = true
      while more {
        let page = try world.page(token, limit: limit)
        #expect(page.modified.count <= limit)
        seen += page.modified.map(\.id.name)
        token = page.token
        more = page.moreComing
      }
      #expect(seen.count == 25 && Set(seen).count == 25, "limit \(limit)")
    }
    let first = try world.page(limit: 10)
    // One that was seen and one that was not; both come at the end as they are then.
    _ = try world.modify([
      try world.edit("r0", ["n": .int64(1)]), try world.edit("r24", ["n": .int64(1)]),
    ])
    let rest = try world.page(first.token)
    #expect(rest.modified.count == 16 && !rest.moreComing)
    #expect(rest.modified.suffix(2).map(\.id.name) == ["r0", "r24"])
    #expect(rest.modified.suffix(2).allSatisfy { $0.fields["n"]?.value == .int64(1) })
  }

  /// Proves CS-145.
  @Test("Pages are also limited by bytes, and contain only the requested fields")
  func pagesAreLimitedByBytesAndFields() throws {
    var limits = CloudLimits()
    limits.pageBytes = 1000
    limits.zoneChangesPage = 4
    let world = try World(limits: limits)
    let bytes = FieldValue.bytes(Array(repeating: 0, count: 600))
    _ = try world.modify((0..<5).map { fresh("r\($0)", ["k": bytes, "n": .int64(1)]) })
    #expect(try world.page(limit: 100).words == "r0, r1, more")
    let slim = FetchZoneChanges(zone: World.zone, since: nil, fields: .keys(["n"]))
    guard case .zoneChanges(let page) = try world.ask(.fetchZoneChanges(slim)).reply()
    else { throw Unexpected() }
    #expect(page.words == "r0, r1, more", "fields that are left out are read, too")
    #expect(page.modified.allSatisfy { $0.fields.keys == ["n"] && $0.changeTag != nil })
    #expect(
      try world.say(.fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil, limit: -1)))
        == "! invalidArguments")
  }

  @Test("A page of any size can be asked for and set")
  func pagesOfAnySizeCanBeSet() throws {
    for size in [Int.max, Int.max - 1, 1_000_000, 0, -1, Int.min] {
      var server = ServerLimits()
      server.zoneChangesPage = size
      server.databaseChangesPage = size
      let world = try World(limits: CloudLimits(server))
      _ = try world.modify([fresh("a")])
      for limit in [nil, 1, Int.max] {
        #expect(try world.page(limit: limit).words == "a", "\(size)")
        #expect(try world.databasePage(limit: limit).modified == [World.zone], "\(size)")
        let request = CloudRequest.fetchZoneChanges(
          FetchZoneChanges(zone: World.zone, since: nil, limit: limit))
        let call = CloudCall(
          container: World.container, database: .private, requestID: "r", request: request)
        let storage = WatchedStorage(world.storage)
        storage.comparePlans()
        try world.machine.foresee(
          call, account: "alice", user: world.alice, device: "phone", in: storage)
      }
    }
  }

  /// Proves CS-140.
  @Test("The public database, the default zone and missing zones have no feed")
  func publicDefaultAndMissingZonesHaveNoFeed() throws {
    let world = try World()
    let cases: [(ZoneID, DatabaseScope, String)] = [
      (.default, .private, "! invalidArguments"), (.default, .public, "! invalidArguments"),
      (World.zone, .public, "! invalidArguments"), (World.zone, .shared, "! invalidArguments"),
      (ZoneID(name: "N"), .private, "! zoneNotFound"),
      (ZoneID(name: "Z", owner: world.bob.rawValue), .private, "! invalidArguments"),
    ]
    for (zone, scope, words) in cases {
      let request = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil))
      #expect(try world.say(request, in: scope) == words, "\(zone) \(scope)")
    }
    let request = CloudRequest.fetchDatabaseChanges(FetchDatabaseChanges(since: nil))
    #expect(try world.say(request, in: .public) == "! invalidArguments")
    #expect(try world.say(request, in: .shared) == "")
  }

  /// Proves CS-141.
  @Test("The database feed lists created, changed and deleted zones, oldest change first")
  func databaseFeedListsZonesByOldestChange() throws {
    let world = try World(zones: [])
    let zones = ["A", "B", "C", "D"].map { ZoneID(name: $0) }
    _ = try world.say(.modifyZones(ModifyZones(save: zones)))
    let first = try world.databasePage()
    #expect(first.modified == zones && first.deleted.isEmpty && !first.moreComing)
    _ = try world.modify([fresh("r", zone: zones[1]), fresh("r", zone: .default)])
    _ = try world.say(.modifyZones(ModifyZones(delete: [zones[0]])))
    _ = try world.machine.removeZone(
      zones[2], for: .purged, in: world.database, now: world.now, storage: world.storage)
    _ = try world.machine.removeZone(
      zones[3], for: .encryptedDataReset, in: world.database, now: world.now,
      storage: world.storage)
    func words(_ page: DatabaseChangesPage) -> String { CloudReply.databaseChanges(page).words }
    let second = try world.databasePage(first.token)
    #expect(words(second) == "B, -A deleted, -C purged, -D encryptedDataReset")
    #expect(try words(world.databasePage(second.token)) == "")
    #expect(try words(world.databasePage()) == "B", "a first fetch hears of no earlier deletion")
    let page = try world.databasePage(first.token, limit: 2)
    #expect(words(page) == "B, -A deleted, more")
    #expect(try words(world.databasePage(page.token)) == "-C purged, -D encryptedDataReset")
    _ = try world.say(.modifyZones(ModifyZones(save: [zones[2]])))
    #expect(try words(world.databasePage(first.token)) == "B, C, -A deleted, -D encryptedDataReset")
  }
}
