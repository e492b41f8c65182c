import CloudMachine
import CloudProtocol
import Records
import Testing

/// Zones, and what the public and the shared database do differently.
///
/// Rules: CS-150 to CS-170.
struct DatabaseTests {
  /// Proves CS-31, CS-32, CS-33, SC-9, SC-161.
  @Test(
    "A zone can be saved again, the default zone always exists, a missing one cannot be deleted")
  func savedZonesRepeatMissingOnesFail() throws {
    let world = try World(zones: [])
    let zone = World.zone
    #expect(try world.say(.fetchZones(nil)) == "_defaultZone ok")
    #expect(try world.say(.fetchZones([zone, .default])) == "Z zoneNotFound, _defaultZone ok")
    #expect(try world.say(.modifyZones(ModifyZones(delete: [zone]))) == "-Z zoneNotFound")
    #expect(
      try world.say(.modifyZones(ModifyZones(save: [zone, .default]))) == "+Z ok, +_defaultZone ok")
    _ = try world.modify([fresh("a")])
    let before = try world.databasePage().token
    #expect(try world.say(.modifyZones(ModifyZones(save: [zone]))) == "+Z ok")
    #expect(try world.names() == ["a"])
    #expect(try world.databasePage(before).token == before, "nothing happened")
    #expect(
      try world.say(.modifyZones(ModifyZones(delete: [.default])))
        == "-_defaultZone invalidArguments")
    guard case .zones(let zones) = try world.ask(.fetchZones(nil)).reply() else {
      throw Unexpected()
    }
    #expect(zones.map { $0.value?.capabilities } == [[], .custom])
    #expect(try world.say(.modifyZones(ModifyZones(delete: [zone]))) == "-Z ok")
    #expect(try world.say(.fetchRecords(FetchRecords(ids: [id("a")]))) == "a zoneNotFound")
    #expect(try world.say(.modifyZones(ModifyZones(save: [zone]))) == "+Z ok")
    #expect(try world.say(.fetchRecords(FetchRecords(ids: [id("a")]))) == "a unknownItem")
    #expect(try world.storage.database(world.database)?.byteCount == 0)
  }

  /// Proves SC-1, SC-2.
  @Test("Fetched records come in the order asked; missing records and zones are told apart")
  func fetchKeepsOrderAndNamesMissingItems() throws {
    let world = try World()
    _ = try world.modify([fresh("a", ["m": .int64(1), "n": .int64(2)])])
    let ids = [id("x"), id("a"), id("a", ZoneID(name: "N")), id("a")]
    #expect(
      try world.say(.fetchRecords(FetchRecords(ids: ids)))
        == "x unknownItem, a ok, a zoneNotFound, a ok")
    let request = FetchRecords(ids: [id("a")], fields: .keys(["m"]))
    guard case .records(let records) = try world.ask(.fetchRecords(request)).reply() else {
      throw Unexpected()
    }
    #expect(records.first?.value?.fields == ["m": .int64(1)])
  }

  /// Proves CS-141, CS-147, CS-148, CS-172, FB-9, I21, SC-159, SC-161.
  @Test(
    "Purged, reset and deleted zones stay distinct (I21)", arguments: ZoneDeletionReason.allCases)
  func zoneDeletionReasonsStayDistinct(reason: ZoneDeletionReason) throws {
    let world = try World()
    _ = try world.modify([fresh("a")])
    let token = try world.page().token
    let seen = try world.databasePage().token
    let end = { (zone: ZoneID) in
      try world.machine.removeZone(
        zone, for: reason, in: world.database, now: world.now, storage: world.storage)
    }
    let orders = try end(World.zone)
    #expect(orders.pushes.isEmpty, "nobody subscribed")
    #expect(try world.storage.zone(World.zone, in: world.database)?.byteCount == 0)
    #expect(try world.storage.database(world.database)?.byteCount == 0)
    let error =
      switch reason {
      case .deleted: "zoneNotFound"
      case .purged: "userDeletedZone"
      case .encryptedDataReset: "zoneNotFound reset"
      }
    #expect(
      try world.databasePage(seen).deleted == [ZoneDeletion(zone: World.zone, reason: reason)])
    #expect(try world.modify([fresh("b")], delete: [id("a")]) == "+b \(error), -a \(error)")
    #expect(try world.say(.fetchRecords(FetchRecords(ids: [id("a")]))) == "a \(error)")
    #expect(try world.say(.fetchZones([World.zone])) == "Z \(error)")
    #expect(
      try world.say(.fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: token)))
        == "! \(error)")
    // A reset asks apps to delete the zone; other devices must still hear of the reset.
    let deletion = reason == .encryptedDataReset ? "ok" : error
    #expect(try world.say(.modifyZones(ModifyZones(delete: [World.zone]))) == "-Z \(deletion)")
    #expect(try world.databasePage(seen).deleted.first?.reason == reason)
    #expect(try world.say(.modifyZones(ModifyZones(save: [World.zone]))) == "+Z ok")
    #expect(try world.page().words == "")
    #expect(
      try world.say(.fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: token)))
        == "! changeTokenExpired")
    #expect(try world.modify([fresh("a")]) == "+a ok")
    #expect(throws: CloudError.self) { try end(ZoneID(name: "N")) }
    #expect(throws: CloudError.self) { try end(.default) }
  }

  /// Proves CS-34, WS-67.
  @Test("The public database has one zone, which everyone reads, and encrypts nothing")
  func publicDatabaseHasOneUnencryptedZone() throws {
    let world = try World()
    let home = ZoneID.default
    #expect(try world.modify([fresh("a", zone: home)], in: .public) == "+a ok")
    #expect(
      try world.modify([fresh("a")], delete: [id("b")], in: .public)
        == "+a badDatabase, -b badDatabase")
    #expect(
      try world.say(
        .modifyZones(ModifyZones(save: [World.zone], delete: [World.zone])), in: .public)
        == "! invalidArguments")
    #expect(
      try world.say(.modifyZones(ModifyZones(save: [World.zone])), in: .public) == "+Z badDatabase")
    #expect(try world.say(.fetchZones(nil), as: world.guest, in: .public) == "_defaultZone ok")
    let read = CloudRequest.fetchRecords(FetchRecords(ids: [id("a", home)]))
    for caller in [world.guest, world.stranger, world.laptop] {
      #expect(try world.say(read, as: caller, in: .public) == "a ok")
    }
    #expect(
      try world.modify([fresh("a", zone: home)], policy: .allKeys, as: world.stranger, in: .public)
        == "+a permissionFailure")
    #expect(
      try world.modify(delete: [id("a", home)], as: world.stranger, in: .public)
        == "-a permissionFailure")
    var save = fresh("e", zone: home)
    save.changes = [.init(key: "k", field: Field(.int64(1), isEncrypted: true))]
    #expect(try world.modify([save], in: .public) == "+e invalidArguments")
    #expect(try world.modify([save]) == "+e ok")
    #expect(try world.modify(delete: [id("a", home)], in: .public) == "-a ok")
    #expect(try world.say(read, in: .public) == "a unknownItem")
    #expect(try world.names(zone: home) == ["e"], "the private default zone is another one")
  }

  @Test("An empty shared database gives every request a suitable answer")
  func emptySharedDatabaseAnswersEveryRequest() throws {
    let world = try World()
    let zone = ZoneID(name: "Z", owner: world.bob.rawValue)
    let answers: [(CloudRequest, String)] = [
      (.fetchZones(nil), ""), (.fetchZones([zone]), "Z zoneNotFound"),
      (.modifyZones(ModifyZones(save: [zone])), "+Z invalidArguments"),
      (.modifyZones(ModifyZones(delete: [zone])), "-Z zoneNotFound"),
      (.fetchRecords(FetchRecords(ids: [id("a", zone)])), "a zoneNotFound"),
      (
        .modifyRecords(ModifyRecords(save: [fresh("a", zone: zone)], delete: [id("b", zone)])),
        "+a zoneNotFound, -b zoneNotFound"
      ),
      (.fetchSubscriptions(nil), ""),
    ]
    for (request, words) in answers { #expect(try world.say(request, in: .shared) == words) }
    let request = CloudRequest.fetchDatabaseChanges(FetchDatabaseChanges(since: nil))
    guard case .databaseChanges(let page) = try world.ask(request, in: .shared).reply() else {
      throw Unexpected()
    }
    let again = CloudRequest.fetchDatabaseChanges(FetchDatabaseChanges(since: page.token))
    #expect(try world.say(again, in: .shared) == "")
    #expect(try world.say(again) == "! changeTokenExpired", "not a token of the private database")
  }
}
