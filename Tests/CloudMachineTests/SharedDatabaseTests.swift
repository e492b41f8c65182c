import CloudMachine
import CloudProtocol
import Records
import Testing

/// What somebody sees and may do whom a zone, or a part of it, is shared with.
///
/// Rules: CS-150 to CS-170.
struct SharedDatabaseTests {
  /// Alice's zone with a shared hierarchy, which Bob joined, and records that are not in it.
  private func shared(
    _ permission: SharePermission = .readWrite, role: ShareRole = .privateUser
  ) throws -> World {
    let world = try World()
    _ = try world.modify([
      fresh("top"), fresh("root", ["n": .int64(1)], parent: "top"), fresh("kid", parent: "root"),
      fresh("secret"), world.share(of: "root", [world.guest("bob", permission, role: role)]),
    ])
    guard try world.accept(as: world.stranger) == "ok" else { throw Unexpected() }
    return world
  }

  private func inShared(
    _ world: World, _ save: [RecordSave] = [], delete: [RecordID] = [],
    policy: SavePolicy = .changedKeys
  ) throws -> String {
    try world.modify(save, delete: delete, policy: policy, as: world.stranger, in: .shared)
  }

  /// Proves CS-34, CS-158, CS-169, S6, SC-102, SC-158, WS-81.
  @Test("Accepting a share adds its zone with the shared records and nothing else")
  func acceptedShareAddsOnlySharedRecords() throws {
    let world = try shared()
    let zone = world.visited
    guard
      case .databaseChanges(let page) = try world.ask(
        .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)), as: world.stranger, in: .shared
      ).reply()
    else { throw Unexpected() }
    #expect(page.modified == [zone] && page.deleted.isEmpty)
    #expect(try world.say(.fetchZones(nil), as: world.stranger, in: .shared) == "Z ok")
    let records = try world.visit(nil, as: world.stranger).modified
    #expect(Set(records.map(\.id.name)) == ["S", "root", "kid"])
    #expect(records.allSatisfy { $0.id.zone == zone })
    let root = try #require(records.first { $0.id.name == "root" })
    #expect(root.parent == nil, "what is above the root is not shared")
    #expect(root.share == id("S", zone) && root.created?.device == nil)
    let share = try #require(records.first { $0.id.name == "S" })
    #expect(share.sharing?.root == root.id)
    #expect(share.sharing?.participants.last?.acceptance == .accepted)
    #expect(share.sharing?.currentParticipant == "p-bob")
    let own = try world.page().modified.first { $0.sharing != nil }
    #expect(own?.sharing?.currentParticipant == own?.sharing?.participants.first?.id)
    #expect(try world.details()?.currentParticipant == nil, "it is not stored")
    #expect(try world.read("kid", as: world.stranger).get().parent == root.id)
    for name in ["top", "secret", "nothing"] {
      #expect(throws: CloudError.self) {
        try world.read(name, as: world.stranger).get()
      }
    }
    #expect(
      try world.say(.fetchRecords(FetchRecords(ids: [id("kid", zone)])), in: .shared)
        == "kid invalidArguments", "Alice's own is not in her shared database")
    // Once more changes nothing.
    let token = try world.page().token
    #expect(try world.accept(as: world.stranger) == "ok")
    #expect(try world.page(token).words == "")
  }

  /// Proves CS-159, CS-160.
  @Test(
    "Joining or leaving updates the share in every feed; the owner sees who changed what")
  func joiningUpdatesShareInEveryFeed() throws {
    let world = try shared()
    let token = try world.page().token
    let kid = try world.read("kid", as: world.stranger).get()
    var save = RecordSave(kid)
    save.changes = [.init(key: "n", field: Field(.int64(5)))]
    let more = fresh("more", parent: "kid", zone: world.visited)
    #expect(
      try inShared(world, [save, more], policy: .ifServerRecordUnchanged) == "+kid ok, +more ok")
    let page = try world.page(token)
    #expect(page.words == "kid, more")
    let stored = try #require(try world.stored("more"))
    #expect(stored.created?.user == world.bob && stored.parent == id("kid"))
    #expect(stored.id.zone == World.zone && stored.share == id("S"))
    #expect(try world.stored("kid")?.modified?.user == world.bob)
    #expect(try world.stored("kid")?.created?.user == world.alice)
    // Bob leaves by deleting the share; nothing else goes.
    #expect(try inShared(world, delete: [id("S", world.visited)]) == "-S ok")
    #expect(try world.page(page.token).words == "S")
    #expect(try world.details()?.participants.last?.acceptance == .removed)
    #expect(try world.names() == ["S", "kid", "more", "root", "secret", "top"])
    #expect(try world.seen(as: world.stranger) == "! zoneNotFound")
    #expect(try world.accept(as: world.stranger) == "ok", "and may come back")
    #expect(try world.seen(as: world.stranger) == "S kid more root")
  }

  /// What Bob asks for and what comes, by his permission.
  struct Ask: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var allowed: String
    var refused: String
    var save: @Sendable (World) throws -> [RecordSave]
    var delete: [String] = []
  }

  static let asks: [Ask] = [
    Ask(
      testDescription: "editRecordWhenLocalHasPermissionsButCloudKitDoesNot", allowed: "+kid ok",
      refused: "+kid permissionFailure"
    ) { [fresh("kid", ["n": .int64(2)], zone: $0.visited)] },
    Ask(
      testDescription: "createRecordInExternallySharedRecord", allowed: "+new ok",
      refused: "+new permissionFailure"
    ) { [fresh("new", parent: "root", zone: $0.visited)] },
    Ask(
      testDescription: "shareeCreatesMultipleChildModels", allowed: "+b ok, +a ok",
      refused: "+b permissionFailure, +a permissionFailure"
    ) { [fresh("b", parent: "a", zone: $0.visited), fresh("a", parent: "kid", zone: $0.visited)] },
    Ask(
      testDescription: "deleteRecordInExternallySharedRecord", allowed: "-kid ok",
      refused: "-kid permissionFailure", save: { _ in [] }, delete: ["kid"]),
    Ask(
      testDescription: "saveSharedRecordWithoutParent", allowed: "+new permissionFailure",
      refused: "+new permissionFailure"
    ) { [fresh("new", zone: $0.visited)] },
    Ask(
      testDescription: "a record can't be taken out", allowed: "+kid permissionFailure",
      refused: "+kid permissionFailure"
    ) { world in
      var save = fresh("kid", zone: world.visited)
      save.parent = .set(nil)
      return [save]
    },
    Ask(
      testDescription:
        "deleteRootSharedRecord_CurrentUserNotOwner: only the owner deletes the root",
      allowed: "-kid batchRequestFailed, -root permissionFailure",
      refused: "-kid permissionFailure, -root permissionFailure", save: { _ in [] },
      delete: ["kid", "root"]),
    Ask(
      testDescription: "names outside are as good as none, but can't be taken",
      allowed: "+secret permissionFailure, -top batchRequestFailed",
      refused: "+secret permissionFailure, -top batchRequestFailed",
      save: { [fresh("secret", parent: "root", zone: $0.visited)] }, delete: ["top"]),
    Ask(
      testDescription: "what can't be seen can be deleted as little as what is not there",
      allowed: "-secret ok, -nothing ok", refused: "-secret ok, -nothing ok", save: { _ in [] },
      delete: ["secret", "nothing"]),
    Ask(
      testDescription: "a parent outside is none", allowed: "+new referenceViolation",
      refused: "+new referenceViolation"
    ) { [fresh("new", parent: "secret", zone: $0.visited)] },
    Ask(
      testDescription: "an owner outside is none", allowed: "+new referenceViolation",
      refused: "+new referenceViolation"
    ) { [fresh("new", parent: "root", owners: ["secret"], zone: $0.visited)] },
    Ask(
      testDescription: "a reference into one's own zone of that name",
      allowed: "+new invalidArguments", refused: "+new invalidArguments"
    ) { world in
      var save = fresh("new", parent: "root", zone: world.visited)
      let own = Reference(target: id("kid"), action: .none)
      save.changes = [.init(key: "own", field: Field(.reference(own)))]
      return [save]
    },
    Ask(
      testDescription: "sharing on", allowed: "+T permissionFailure, +new batchRequestFailed",
      refused: "+T permissionFailure, +new permissionFailure"
    ) {
      [$0.share("T", of: "new", zone: $0.visited), fresh("new", parent: "root", zone: $0.visited)]
    },
    Ask(
      testDescription: "the root, whose own parent is not shared", allowed: "+root ok",
      refused: "+root permissionFailure"
    ) { world in
      var save = RecordSave(try world.read("root", as: world.stranger).get())
      save.changes = [.init(key: "n", field: Field(.int64(2)))]
      return [save]
    },
    Ask(
      testDescription: "the root moved elsewhere", allowed: "+root permissionFailure",
      refused: "+root permissionFailure"
    ) { [fresh("root", parent: "kid", zone: $0.visited)] },
    Ask(
      testDescription: "changing who is in it", allowed: "+S permissionFailure",
      refused: "+S permissionFailure"
    ) { world in
      var save = try world.reshare { $0.publicPermission = .readWrite }
      save.id = id("S", world.visited)
      save.sharing?.root = id("root", world.visited)
      return [save]
    },
  ]

  /// Proves CS-161, CS-162, CS-169, SC-13, SC-88, SC-94, SC-96, SC-97, SC-103, TH-7.
  @Test("A participant may do only what the permission allows", arguments: asks)
  func participantActsWithinPermission(_ ask: Ask) throws {
    for (permission, expected) in [
      (SharePermission.readWrite, ask.allowed), (.readOnly, ask.refused),
    ] {
      let world = try shared(permission)
      let before = try world.names()
      let answer = try inShared(
        world, try ask.save(world), delete: ask.delete.map { id($0, world.visited) })
      #expect(answer == expected, "\(permission)")
      if !answer.contains("ok") || ask.delete.contains("secret") {
        #expect(try world.names() == before)
      }
    }
  }

  @Test("A participant who clears the parent of the root does not take it from its own parent")
  func rootKeepsItsHiddenParent() throws {
    let world = try shared()
    var save = fresh("root", ["n": .int64(3)], zone: world.visited)
    save.parent = .set(nil)
    #expect(try inShared(world, [save]) == "+root ok")
    let own = try world.page().modified.first { $0.id.name == "root" }
    #expect(own?.parent == id("top"))
    #expect(try world.read("root", as: world.stranger).get().parent == nil)
  }

  /// Proves CS-246.
  @Test("Own zones in the shared database, and those of others in the private one, are refused")
  func zonesInWrongDatabaseAreRefused() throws {
    let world = try shared()
    let own = ZoneID(name: "Z", owner: world.bob.rawValue)
    for zone in [own, .default] {
      #expect(try inShared(world, [fresh("a", zone: zone)]) == "+a invalidArguments")
      let fetch = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil))
      #expect(try world.say(fetch, as: world.stranger, in: .shared) == "! invalidArguments")
    }
    let read = CloudRequest.fetchRecords(
      FetchRecords(ids: [RecordID(name: "a", zone: world.visited)]))
    #expect(try world.say(read, as: world.stranger) == "a invalidArguments")
    #expect(
      try world.say(.modifyZones(ModifyZones(save: [world.visited])), as: world.stranger)
        == "+Z invalidArguments")
  }

  /// Proves CS-34, WS-67.
  @Test("A participant cannot create a shared zone, and leaves it by deleting it")
  func sharedZoneIsLeftByDeletingIt() throws {
    let world = try shared()
    let other = ZoneID(name: "Other", owner: world.alice.rawValue)
    func zones(_ request: ModifyZones) throws -> String {
      try world.say(.modifyZones(request), as: world.stranger, in: .shared)
    }
    #expect(try zones(ModifyZones(save: [ZoneID(name: "New")])) == "+New invalidArguments")
    #expect(try zones(ModifyZones(save: [world.visited])) == "+Z invalidArguments")
    #expect(try zones(ModifyZones(delete: [other])) == "-Other zoneNotFound")
    #expect(
      try inShared(world, [fresh("a", zone: other), fresh("b")])
        == "+a zoneNotFound, +b invalidArguments")
    #expect(try zones(ModifyZones(delete: [world.visited])) == "-Z ok")
    #expect(try world.names().count == 5, "only Bob left")
    #expect(try zones(ModifyZones(delete: [world.visited])) == "-Z zoneNotFound")
  }

  /// Proves CS-167.
  @Test(
    "Administrators manage other participants, but neither the owner nor each other")
  func administratorsManageOnlyOtherParticipants() throws {
    let world = try shared(.readWrite, role: .administrator)
    func save(_ edit: (inout ShareDetails) -> Void) throws -> String {
      var save = try world.reshare("S", edit)
      save.id = id("S", world.visited)
      save.sharing?.root = id("root", world.visited)
      return try inShared(world, [save])
    }
    #expect(try save { $0.participants.append(world.guest("carol")) } == "+S ok")
    #expect(try world.details()?.participants.count == 3)
    #expect(try world.stored("S")?.modified?.user == world.bob)
    #expect(try save { $0.participants.removeLast() } == "+S ok")
    #expect(try save { $0.participants.removeFirst() } == "+S permissionFailure")
    #expect(
      try save {
        $0.participants.append(world.guest("carol", role: .administrator))
      } == "+S permissionFailure")
    #expect(try save { $0.participants[1].role = .privateUser } == "+S permissionFailure")
  }

  @Test("An administrator who may only read the records manages the share nevertheless")
  func readOnlyAdministratorsManageParticipants() throws {
    for (role, words) in [(ShareRole.administrator, "ok"), (.privateUser, "permissionFailure")] {
      let world = try shared(.readOnly, role: role)
      var save = try world.reshare("S") { $0.participants.append(world.guest("carol")) }
      save.id = id("S", world.visited)
      save.sharing?.root = id("root", world.visited)
      #expect(try inShared(world, [save]) == "+S \(words)")
      #expect(
        try inShared(world, [fresh("kid", zone: world.visited)]) == "+kid permissionFailure")
    }
  }

  @Test("The owner's subscription to shares fires when a participant leaves one")
  func leavingAShareFiresSubscriptionsToShares() throws {
    let world = try shared()
    let watched = QuerySubscription(
      query: Query(recordType: ShareDetails.recordType), zone: nil,
      options: [.firesOnRecordUpdate])
    let subscription = Subscription(
      id: SubscriptionID("shares"), kind: .query(watched), notificationInfo: .init())
    let subscribe = CloudRequest.modifySubscriptions(ModifySubscriptions(save: [subscription]))
    #expect(try world.say(subscribe) == "+shares ok")
    let leave = CloudRequest.modifyRecords(ModifyRecords(delete: [id("S", world.visited)]))
    let answer = try world.ask(leave, as: world.stranger, in: .shared)
    #expect(answer.result.words == "-S ok")
    let told = answer.pushes.filter { $0.user == world.alice }.compactMap(\.push.query)
    #expect(told.map(\.record) == [id("S")] && told.map(\.reason) == [.updated])
  }

  /// Proves CS-153, S6.
  @Test("A zone-wide share makes every record visible and writable, also without a parent")
  func zoneWideShareOpensEveryRecord() throws {
    let world = try World()
    let name = ShareDetails.zoneWideName
    _ = try world.modify([
      fresh("a"), fresh("b", parent: "a"), world.share(name, of: nil, [world.guest("bob")]),
    ])
    _ = try world.modify(delete: [id("b")])
    #expect(try world.accept(name, as: world.stranger) == "ok")
    guard
      case .zones(let zones) = try world.ask(.fetchZones(nil), as: world.stranger, in: .shared)
        .reply()
    else { throw Unexpected() }
    #expect(zones.first?.value?.share == id(name, world.visited))
    let first = try world.visit(nil, as: world.stranger)
    #expect(first.words == "a, \(name)", "b was before his time")
    #expect(try inShared(world, [fresh("c", zone: world.visited)]) == "+c ok")
    _ = try world.modify([fresh("d")], delete: [id("a")])
    #expect(try world.visit(first.token, as: world.stranger).words == "c, d, -a")
    _ = try world.modify([
      try world.reshare(name) { $0.participants[1].permission = .readOnly }
    ])
    #expect(try inShared(world, [fresh("e", zone: world.visited)]) == "+e permissionFailure")
    #expect(
      try inShared(world, delete: [id("d", world.visited)]) == "-d permissionFailure")
    _ = try world.modify([
      try world.reshare(name) { $0.participants[1].permission = .none }
    ])
    #expect(try world.seen(as: world.stranger) == "! zoneNotFound")
  }

  @Test("records that come into the hierarchy are changes, those that leave it deletions")
  func recordsLeavingHierarchyAreDeletions() throws {
    let world = try shared()
    var token = try world.visit(nil, as: world.stranger).token
    func news() throws -> String {
      let page = try world.visit(token, as: world.stranger)
      token = page.token
      return page.words
    }
    _ = try world.modify([fresh("leaf", parent: "secret"), try world.edit("top")])
    #expect(try news() == "")
    _ = try world.modify([try world.edit("secret", parent: "root")])
    #expect(try news() == "secret, leaf")
    var out = try world.edit("secret", ["n": .int64(3)])
    out.parent = .set(nil)
    _ = try world.modify([out])
    _ = try world.modify([try world.edit("leaf", ["n": .int64(4)])])
    #expect(try news() == "-secret, -leaf")
    _ = try world.modify(delete: [id("leaf")])
    _ = try world.modify(delete: [id("secret")])
    #expect(try news() == "", "what went outside is no news")
    // The same name as another type: nobody learns it.
    _ = try world.modify(delete: [id("kid")])
    _ = try world.modify([fresh("kid", type: "Diary")])
    #expect(throws: (any Error).self) { try news() }
    #expect(try world.seen(as: world.stranger) == "S root")
  }

  @Test(
    "A page ends after twenty times its limit of rows that are not shared, and misses none after",
    arguments: [40, 41])
  func pageBoundsRowsThatAreNotShared(hiddenCount: Int) throws {
    let world = try shared()
    let token = try world.visit(nil, as: world.stranger).token
    _ = try world.modify(
      (0..<hiddenCount).map { fresh("hidden-\($0)") } + [fresh("news", parent: "root")])
    var page = try world.visit(token, limit: 2, as: world.stranger)
    #expect(page.words == "more", "40 rows were read")
    page = try world.visit(page.token, limit: 2, as: world.stranger)
    #expect(page.words == "news")
  }

  @Test("A second share of a zone adds its older records, and its end removes them")
  func secondShareAddsAndRemovesItsRecords() throws {
    let world = try shared()
    _ = try world.modify([
      fresh("r2"), fresh("k2", parent: "r2"),
      world.share("T", of: "r2", [world.guest("bob", .readOnly)]),
    ])
    var token = try world.visit(nil, as: world.stranger).token
    #expect(try world.accept("T", as: world.stranger) == "ok")
    var page = try world.visit(token, limit: 2, as: world.stranger)
    #expect(page.words == "r2, k2, more")
    page = try world.visit(page.token, limit: 2, as: world.stranger)
    #expect(page.words == "T")
    #expect(try inShared(world, [fresh("k2", zone: world.visited)]) == "+k2 permissionFailure")
    #expect(try inShared(world, [fresh("kid", zone: world.visited)]) == "+kid ok")
    token = try world.visit(page.token, as: world.stranger).token
    _ = try world.modify([try world.reshare("T") { $0.participants.removeLast() }])
    #expect(try world.visit(token, as: world.stranger).words == "-r2, -k2, -T")
    #expect(try world.seen(as: world.stranger) == "S kid root")
  }

  /// How Bob's sight of the zone ends.
  enum End: String, CaseIterable, CustomTestStringConvertible {
    case revoked, stopped, rootDeleted, zoneDeleted, zonePurged, ownerErased
    var testDescription: String { rawValue }
  }

  /// Proves CE-110, CS-168, SC-104.
  @Test(
    "When a share ends, the database of the participant loses its zone", arguments: End.allCases)
  func endedShareRemovesParticipantsZone(_ end: End) throws {
    let world = try shared()
    func zones(_ since: ChangeToken?) throws -> DatabaseChangesPage {
      guard
        case .databaseChanges(let page) = try world.ask(
          .fetchDatabaseChanges(FetchDatabaseChanges(since: since)), as: world.stranger,
          in: .shared
        ).reply()
      else { throw Unexpected() }
      return page
    }
    let token = try zones(nil).token
    let visit = try world.visit(nil, as: world.stranger).token
    let watch = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = try world.say(
      .modifySubscriptions(ModifySubscriptions(save: [watch])), as: world.stranger, in: .shared)
    let pushes: [OutgoingPush]
    switch end {
    case .revoked:
      let save = try world.reshare { $0.participants.removeLast() }
      pushes = try world.ask(.modifyRecords(ModifyRecords(save: [save]))).pushes
    case .stopped:
      pushes = try world.ask(.modifyRecords(ModifyRecords(delete: [id("S")]))).pushes
    case .rootDeleted:
      pushes = try world.ask(
        .modifyRecords(ModifyRecords(delete: [id("root"), id("kid")]))
      ).pushes
    case .zoneDeleted:
      pushes = try world.ask(.modifyZones(ModifyZones(delete: [World.zone]))).pushes
    case .zonePurged:
      pushes = try world.machine.removeZone(
        World.zone, for: .purged, in: world.database, now: world.now, storage: world.storage
      ).pushes
    case .ownerErased:
      pushes = try world.machine.eraseData(
        of: world.alice, container: World.container, environment: .development, now: world.now,
        storage: world.storage
      ).pushes
    }
    #expect(pushes.map(\.user) == [world.bob] && pushes.first?.push.database == .shared)
    let page = try zones(token)
    #expect(page.modified.isEmpty)
    #expect(page.deleted == [ZoneDeletion(zone: world.visited, reason: .deleted)])
    #expect(try world.say(.fetchZones(nil), as: world.stranger, in: .shared) == "")
    #expect(
      try world.say(
        .fetchZoneChanges(FetchZoneChanges(zone: world.visited, since: visit)),
        as: world.stranger, in: .shared) == "! zoneNotFound")
    #expect(
      try inShared(world, [fresh("kid", zone: world.visited)]) == "+kid zoneNotFound")
    let row = try world.storage.zone(World.zone, in: world.database)
    #expect(row?.sharing.viewers.isEmpty ?? true)
    if end == .revoked || end == .stopped { #expect(try world.stored("kid") != nil) }
  }

  @Test("Tokens expire with the owner's maintenance and are invalid after joining again")
  func sharedTokensExpireAndEndWithMembership() throws {
    let world = try shared()
    let first = try world.visit(nil, as: world.stranger).token
    func ask(_ token: ChangeToken) throws -> String {
      try world.say(
        .fetchZoneChanges(FetchZoneChanges(zone: world.visited, since: token)),
        as: world.stranger, in: .shared)
    }
    #expect(try ask(first) == "")
    #expect(try ask(try world.page().token) == "! changeTokenExpired", "not the owner's")
    _ = try world.machine.expireTokens(
      of: World.zone, in: world.database, now: world.now, storage: world.storage)
    #expect(try ask(first) == "! changeTokenExpired")
    #expect(try world.seen(as: world.stranger) == "S kid root")
    let second = try world.visit(nil, as: world.stranger).token
    _ = try inShared(world, delete: [id("S", world.visited)])
    _ = try world.accept(as: world.stranger)
    #expect(try ask(second) == "! changeTokenExpired")
    // Bob's own data goes; Alice's stays.
    _ = try world.machine.eraseData(
      of: world.bob, container: World.container, environment: .development, now: world.now,
      storage: world.storage)
    #expect(try world.details()?.participants.last?.acceptance == .removed)
    #expect(try world.say(.fetchZones(nil), as: world.stranger) == "_defaultZone ok")
  }

  @Test("Pushes go to the owner and other participants, only about records they can see")
  func sharedPushesReachOnlyViewers() throws {
    let world = try shared()
    let carol = try world.machine.createAccount("carol", in: world.storage).user
    _ = try world.modify([
      fresh("r2"), world.share("T", of: "r2", [world.guest("carol")]),
    ])
    _ = try world.accept("T", as: Caller(user: carol, device: "c"))
    for (caller, scope) in [
      (world.phone, DatabaseScope.private), (world.stranger, .shared),
      (Caller(user: carol, device: "c"), .shared),
    ] {
      for (name, type) in [("any", nil), ("notes", "Note")] as [(String, String?)] {
        let watch = Subscription(id: SubscriptionID(name), kind: .database(recordType: type))
        _ = try world.say(
          .modifySubscriptions(ModifySubscriptions(save: [watch])), as: caller, in: scope)
      }
    }
    func pushed(_ save: RecordSave, as caller: Caller, in scope: DatabaseScope) throws -> [String] {
      let request = ModifyRecords(save: [save], policy: .changedKeys)
      let answer = try world.ask(.modifyRecords(request), as: caller, in: scope)
      return answer.pushes.map { order in
        #expect(order.exceptDevice == (order.user == caller.user ? caller.device : nil))
        let name = [world.alice: "alice", world.bob: "bob", carol: "carol"][order.user] ?? "?"
        return "\(name) \(order.push.database) \(order.push.subscription.rawValue)"
      }
    }
    #expect(
      try pushed(fresh("kid", zone: world.visited), as: world.stranger, in: .shared)
        == ["alice private any", "alice private notes", "bob shared any", "bob shared notes"])
    #expect(
      try pushed(fresh("r2"), as: world.phone, in: .private)
        == ["alice private any", "alice private notes", "carol shared any", "carol shared notes"])
    #expect(
      try pushed(fresh("secret"), as: world.phone, in: .private)
        == ["alice private any", "alice private notes"])
    #expect(
      try pushed(fresh("secret", parent: "r2"), as: world.phone, in: .private)
        == ["alice private any", "alice private notes", "carol shared any", "carol shared notes"])
    #expect(
      try pushed(
        try world.reshare("T") { $0.participants.removeLast() }, as: world.phone, in: .private)
        == ["alice private any", "carol shared any"])
  }

  /// Proves I12.
  @Test("Conflicts, batches, cascades, repetition and the owner's quota work as in private")
  func sharedDatabaseFollowsPrivateRules() throws {
    let world = try shared()
    let kid = fresh("kid", ["n": .int64(1)], zone: world.visited, tag: "old")
    let request = CloudRequest.modifyRecords(
      ModifyRecords(save: [kid, fresh("new", parent: "root", zone: world.visited)]))
    let answer = try world.ask(request, as: world.stranger, in: .shared, requestID: "same")
    #expect(answer.result.words == "+kid serverRecordChanged, +new batchRequestFailed")
    guard case .recordsModified(let saved, _) = try answer.reply() else { throw Unexpected() }
    #expect(saved.first?.error?.serverRecord?.id == id("kid", world.visited))
    #expect(saved.first?.error?.serverRecord?.parent == id("root", world.visited))
    let again = try world.ask(request, as: world.stranger, in: .shared, requestID: "same")
    #expect(again.result == answer.result)
    let other = try world.ask(
      .modifyRecords(ModifyRecords(save: [kid])), as: world.stranger, in: .shared,
      requestID: "same")
    #expect(other.result.words == "! invalidArguments")
    _ = try inShared(
      world, [fresh("tail", parent: "root", owners: ["kid"], zone: world.visited)])
    #expect(try inShared(world, delete: [id("kid", world.visited)]) == "-kid ok")
    #expect(try world.stored("tail") == nil)
    try world.machine.setQuota(1, of: world.alice, in: world.storage)
    #expect(
      try inShared(world, [fresh("new", parent: "root", zone: world.visited)])
        == "+new quotaExceeded")
    try world.machine.setQuota(nil, of: world.alice, in: world.storage)
    try world.machine.setQuota(1, of: world.bob, in: world.storage)
    #expect(
      try inShared(world, [fresh("new", parent: "root", zone: world.visited)]) == "+new ok")
    #expect(try world.storage.database(world.database(of: world.bob))?.byteCount == 0)
  }

  /// Proves SC-105.
  @Test("A child record moves from a private parent to a shared parent, and back")
  func childMovesBetweenPrivateAndSharedParents() throws {
    let world = try shared()
    _ = try world.modify([fresh("list"), fresh("item", parent: "list")], as: world.stranger)
    #expect(
      try inShared(world, [fresh("item", parent: "root", zone: world.visited)]) == "+item ok")
    #expect(try world.modify(delete: [id("item")], as: world.stranger) == "-item ok")
    #expect(try world.stored("item")?.created?.user == world.bob)
    #expect(try world.modify([fresh("item", parent: "list")], as: world.stranger) == "+item ok")
    #expect(try inShared(world, delete: [id("item", world.visited)]) == "-item ok")
    #expect(try world.stored("item") == nil)
  }

  /// Proves CS-81, E8, WS-53.
  @Test("Queries in the shared database find visible records, name the zone and use pages")
  func sharedQueryFindsVisibleRecords() throws {
    let world = try shared()
    func ask(_ zone: ZoneID?, _ filters: [Query.Filter] = [], limit: Int? = nil) throws -> String {
      try world.say(
        .queryRecords(
          QueryRecords(
            query: Query(recordType: "Note", filters: filters), zone: zone, limit: limit)),
        as: world.stranger, in: .shared)
    }
    #expect(try ask(world.visited) == "kid, root")
    #expect(try ask(world.visited, limit: 1) == "kid, more")
    #expect(
      try ask(world.visited, [.init(key: "n", comparator: .equals, value: .int64(1))]) == "root")
    #expect(try ask(nil) == "! invalidArguments")
    #expect(try ask(World.zone) == "! invalidArguments")
  }
}
