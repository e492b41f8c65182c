import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

/// How shares are made, changed and ended by their owner, and how others come to them.
///
/// Rules: CS-150 to CS-170.
struct ShareTests {
  /// Proves CS-153, CS-155, S6, SC-98.
  @Test("A share is saved together with its root, and only its hierarchy shows the share")
  func shareAndRootAreSavedTogether() throws {
    let world = try World()
    _ = try world.modify([fresh("root"), fresh("kid", parent: "root"), fresh("other")])
    let token = try world.page().token
    let tag = try world.stored("kid")?.changeTag
    #expect(
      try world.modify([world.share(of: "root")]) == "+S invalidArguments", "without its root")
    #expect(
      try world.modify([world.share(of: "root"), world.edit("root")]) == "+S ok, +root ok")
    #expect(try world.page(token).words == "S, root, kid")
    for (name, share) in [("root", "S"), ("kid", "S"), ("other", nil), ("S", nil)] {
      #expect(try world.stored(name)?.share?.name == share, "\(name)")
    }
    #expect(try world.stored("kid")?.changeTag == tag, "no new version")
    let details = try #require(try world.details())
    #expect(details.root == id("root") && details.url != nil && details.publicPermission == .none)
    #expect(details.participants.map(\.role) == [.owner])
    #expect(details.participants.first?.identity.user == world.alice)
    _ = try world.modify([fresh("grandkid", parent: "kid"), fresh("sibling", parent: "other")])
    #expect(try world.stored("grandkid")?.share == id("S"))
    // A subtree moves in and out with its descendants.
    _ = try world.modify([try world.edit("other", parent: "kid")])
    #expect(try world.stored("sibling")?.share == id("S"))
    var out = try world.edit("kid")
    out.parent = .set(nil)
    _ = try world.modify([out])
    for name in ["kid", "grandkid", "other", "sibling"] {
      #expect(try world.stored(name)?.share == nil, "\(name)")
    }
    #expect(try world.stored("root")?.share == id("S"))
  }

  /// What a save of shares comes to, after what was there before.
  struct Rule: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var expected: String
    var before: @Sendable (World) throws -> [RecordSave]
    var save: @Sendable (World) throws -> [RecordSave]

    init(
      _ name: String, _ expected: String,
      after before: @escaping @Sendable (World) throws -> [RecordSave] = { _ in [] },
      _ save: @escaping @Sendable (World) throws -> [RecordSave]
    ) {
      testDescription = name
      self.expected = expected
      self.before = before
      self.save = save
    }
  }

  static let rules: [Rule] = [
    Rule("a share alone, later", "+S ok", after: { [$0.share(of: "r"), fresh("r")] }) {
      [try $0.reshare()]
    },
    Rule(
      "a share is never overwritten unseen", "+S serverRecordChanged",
      after: { [$0.share(of: "r"), fresh("r")] }
    ) { [$0.share(of: "r", tag: ChangeTag("old"))] },
    Rule(
      "shareTwice: a second share of the same root", "+T alreadyShared, +r batchRequestFailed",
      after: { [$0.share(of: "r"), fresh("r")] }
    ) { [$0.share("T", of: "r"), try $0.edit("r")] },
    Rule(
      "two shares of one root at once",
      "+S batchRequestFailed, +T alreadyShared, +r batchRequestFailed"
    ) {
      [$0.share(of: "r"), $0.share("T", of: "r"), fresh("r")]
    },
    Rule(
      "a share below a shared record", "+T alreadyShared, +k batchRequestFailed",
      after: { [$0.share(of: "r"), fresh("r"), fresh("k", parent: "r")] }
    ) { [$0.share("T", of: "k"), try $0.edit("k")] },
    Rule(
      "a share above a shared record", "+T alreadyShared, +r batchRequestFailed",
      after: { [fresh("r"), $0.share(of: "k"), fresh("k", parent: "r")] }
    ) { [$0.share("T", of: "r"), try $0.edit("r")] },
    Rule(
      "a record above a shared one, moved into another share",
      "+p alreadyShared",
      after: {
        [
          $0.share(of: "r"), fresh("r"), fresh("p"), fresh("q", parent: "p"),
          $0.share("T", of: "k"), fresh("k", parent: "q"),
        ]
      }
    ) { [try $0.edit("p", parent: "r")] },
    Rule(
      "a root, moved into another share", "+k alreadyShared, +p alreadyShared",
      after: { [$0.share(of: "r"), fresh("r"), $0.share("T", of: "k"), fresh("k"), fresh("p")] }
    ) { [try $0.edit("k", parent: "p"), try $0.edit("p", parent: "r")] },
    Rule(
      "a root, changed where it is", "+k ok",
      after: { [fresh("p"), $0.share("T", of: "k"), fresh("k", parent: "p")] }
    ) { [try $0.edit("k", parent: "p")] },
    Rule(
      "a share keeps its root", "+S invalidArguments",
      after: { [$0.share(of: "r"), fresh("r"), fresh("q")] }
    ) { world in [try world.reshare { $0.root = id("q") }] },
    Rule("a missing root", "+S invalidArguments") { [$0.share(of: "r")] },
    Rule("a share of itself", "+S invalidArguments") { [$0.share(of: "S")] },
    Rule("a root in another zone", "+S invalidArguments") { world in
      var share = world.share(of: "r")
      share.sharing?.root = id("r", .default)
      return [share]
    },
    Rule("a new share that says nothing", "+S invalidArguments, +r batchRequestFailed") { world in
      var share = world.share(of: "r")
      share.sharing = nil
      return [share, fresh("r")]
    },
    Rule("details in a plain record", "+r invalidArguments") { _ in
      var save = fresh("r")
      save.sharing = ShareDetails(root: nil)
      return [save]
    },
    Rule("a whole zone", "+cloudkit.zoneshare ok") {
      [$0.share(ShareDetails.zoneWideName, of: nil)]
    },
    Rule("a whole zone by another name", "+S invalidArguments") { [$0.share(of: nil)] },
    Rule(
      "a hierarchy by the whole zone's name",
      "+cloudkit.zoneshare invalidArguments, +r batchRequestFailed"
    ) {
      [$0.share(ShareDetails.zoneWideName, of: "r"), fresh("r")]
    },
    Rule(
      "a second share of a whole zone", "+cloudkit.zoneshare serverRecordChanged",
      after: { [$0.share(ShareDetails.zoneWideName, of: nil)] }
    ) { [$0.share(ShareDetails.zoneWideName, of: nil)] },
    Rule(
      "a whole zone with shared hierarchies", "+cloudkit.zoneshare invalidArguments",
      after: { [$0.share(of: "r"), fresh("r")] }
    ) { [$0.share(ShareDetails.zoneWideName, of: nil)] },
    Rule(
      "a hierarchy of a shared zone", "+S serverRejectedRequest, +r batchRequestFailed",
      after: { [$0.share(ShareDetails.zoneWideName, of: nil)] }
    ) { [$0.share(of: "r"), fresh("r")] },
    Rule("the default zone", "+S invalidArguments, +r ok") {
      [$0.share(of: "r", zone: .default), fresh("r", zone: .default)]
    },
    Rule("a field of the share", "+S ok, +r ok") { world in
      var share = world.share(of: "r")
      share.changes = [.init(key: "cloudkit.title", field: Field(.string("Trip")))]
      return [share, fresh("r")]
    },
    Rule("a title in a plain record", "+r invalidArguments") { _ in
      [fresh("r", ["cloudkit.title": .string("Trip")])]
    },
    Rule("somebody twice", "+S participantAlreadyInvited, +r batchRequestFailed") { world in
      var again = world.guest("bob")
      again.id = "other"
      again.identity = UserIdentity(user: world.bob)
      return [world.share(of: "r", [world.guest("bob"), again]), fresh("r")]
    },
    Rule("nobody in particular", "+S invalidArguments, +r batchRequestFailed") { world in
      [
        world.share(of: "r", [ShareParticipant(id: "p", identity: UserIdentity())]),
        fresh("r"),
      ]
    },
    Rule("by name while open", "+S invalidArguments, +r batchRequestFailed") { world in
      [world.share(of: "r", [world.guest("bob")], open: .readOnly), fresh("r")]
    },
    Rule("100 people", "+S ok, +r ok") { world in
      [world.share(of: "r", (1...100).map { world.guest("g\($0)") }), fresh("r")]
    },
    Rule("a very long address", "+S invalidArguments, +r batchRequestFailed") { world in
      [world.share(of: "r", [world.guest(String(repeating: "g", count: 250))]), fresh("r")]
    },
    Rule("101 people", "+S tooManyParticipants, +r batchRequestFailed") { world in
      [world.share(of: "r", (1...101).map { world.guest("g\($0)") }), fresh("r")]
    },
  ]

  /// Proves CS-118, CS-136, CS-154, CS-155, S6, SC-99, WS-77.
  @Test("Each attempt to share is accepted or refused by the sharing rules", arguments: rules)
  func sharingRulesDecideWhatIsShared(_ rule: Rule) throws {
    let world = try World()
    let before = try rule.before(world)
    if !before.isEmpty { try #require(!world.modify(before).contains("Failed")) }
    #expect(try world.modify(try rule.save(world)) == rule.expected)
  }

  @Test("The whole zone is shared in the request that ends its last shared hierarchy")
  func wholeZoneIsSharedAfterItsHierarchies() throws {
    let world = try World()
    _ = try world.modify([
      world.share(of: "r"), fresh("r"), world.share("T", of: "q"), fresh("q"), fresh("x"),
    ])
    let name = ShareDetails.zoneWideName
    let whole = world.share(name, of: nil)
    #expect(
      try world.modify([whole], delete: [id("S"), id("x")])
        == "+\(name) invalidArguments, -S batchRequestFailed, -x batchRequestFailed")
    #expect(
      try world.modify([whole], delete: [id("S"), id("T"), id("x")])
        == "+\(name) ok, -S ok, -T ok, -x ok")
  }

  /// Proves CS-151.
  @Test("Records in the public database cannot be shared")
  func publicDatabaseAllowsNoSharing() throws {
    let world = try World()
    let saves = [world.share(of: "r", zone: .default), fresh("r", zone: .default)]
    #expect(try world.modify(saves, in: .public) == "+S badDatabase, +r ok")
  }

  /// Proves CS-156, CS-160, CS-161, SC-14, SC-101, SC-160.
  @Test(
    "Ending a share keeps its records and its URL; deleting the root deletes the share"
  )
  func endedShareKeepsRecordsAndURL() throws {
    let world = try World()
    _ = try world.modify([world.share(of: "r"), fresh("r"), fresh("k", parent: "r")])
    let url = try world.url()
    #expect(try world.modify(delete: [id("S")]) == "-S ok")
    #expect(try world.names() == ["k", "r"])
    #expect(try world.stored("r")?.share == nil && world.stored("k")?.share == nil)
    #expect(try world.say(.resolveShares(ResolveShares(urls: [url]))) == "\(url) unknownItem")
    _ = try world.modify([world.share("T", of: "r"), try world.edit("r")])
    #expect(try world.url("T") == url)
    #expect(try world.stored("k")?.share == id("T"))
    #expect(try world.say(.resolveShares(ResolveShares(urls: [url]))) == "\(url) ok")
    #expect(try world.modify(delete: [id("r"), id("k")]) == "-r ok, -k ok")
    #expect(try world.names().isEmpty, "the share went with its root")
    // Another storage has other URLs for the same names, and so have other roots.
    let other = try World()
    other.storage = MemoryStorage(identity: 7, secret: StorageSecret(first: 1, second: 2))
    _ = try other.machine.createAccount("alice", in: other.storage)
    _ = try other.say(.modifyZones(ModifyZones(save: [World.zone])))
    _ = try other.modify([other.share(of: "r"), fresh("r"), other.share("T", of: "q"), fresh("q")])
    #expect(try Set([url, other.url(), other.url("T")]).count == 3)
  }

  /// Proves CS-157.
  @Test("Opening or closing a share decides which participants stay")
  func publicPermissionDecidesWhoStays() throws {
    let world = try World()
    _ = try world.machine.createAccount("carol", in: world.storage)
    let carol = Caller(
      user: try world.storage.account(named: "carol")?.user, device: "carol's")
    _ = try world.modify([
      world.share(of: "r", [world.guest("bob", .readOnly), world.guest("dave")]), fresh("r"),
    ])
    func people() throws -> String {
      (try world.details()?.participants ?? []).dropFirst().map {
        "\($0.id) \($0.role) \($0.permission) \($0.acceptance)"
      }.joined(separator: ", ")
    }
    #expect(
      try people() == "p-bob privateUser readOnly pending, p-dave privateUser readWrite pending")
    #expect(try world.accept(as: carol) == "participantMayNeedVerification", "perhaps she is dave")
    #expect(try world.accept(as: world.stranger) == "ok")
    _ = try world.modify([try world.reshare { $0.publicPermission = .readOnly }])
    #expect(try people() == "p-bob privateUser readOnly accepted")
    #expect(try world.accept(as: carol) == "ok")
    let user = try #require(carol.user).rawValue
    #expect(
      try people()
        == "p-bob privateUser readOnly accepted, \(user) publicUser readOnly accepted")
    _ = try world.modify([try world.reshare { $0.publicPermission = .readWrite }])
    #expect(try people().hasSuffix("publicUser readWrite accepted"))
    #expect(try world.seen(as: carol) == "S r")
    // A client can't say that somebody accepted.
    _ = try world.modify([
      try world.reshare {
        $0.publicPermission = .none
        var eve = world.guest("eve")
        eve.acceptance = .accepted
        $0.participants.append(eve)
      }
    ])
    #expect(try people() == "p-eve privateUser readWrite pending")
    #expect(try world.seen(as: carol) == "! zoneNotFound")
    #expect(try world.seen(as: world.stranger) == "! zoneNotFound")
    _ = try world.modify([try world.reshare { $0.participants.removeAll { $0.id == "p-eve" } }])
    #expect(try world.accept(as: carol) == "permissionFailure")
    #expect(try world.accept(url: "https://share.cloudsync.example/0", as: carol) == "unknownItem")
    #expect(try world.accept(as: world.phone) == "ok", "her own")
    #expect(try world.accept(as: world.guest) == "! notAuthenticated")
  }

  /// Proves CS-157.
  @Test("A person who is added again in the save that closes a share is invited; others leave it")
  func personWhoIsAddedAgainIsInvited() throws {
    let world = try World()
    _ = try world.modify([world.share(of: "r", open: .readOnly), fresh("r")])
    #expect(try world.accept(as: world.stranger) == "ok")
    let bob = try #require(try world.details()?.participants.last)
    #expect(bob.role == .publicUser)
    for id in ["new", ""] {
      _ = try world.modify([
        try world.reshare {
          $0.publicPermission = .none
          $0.participants.removeLast()
          var again = world.guest("bob")
          again.id = id
          $0.participants.append(again)
        }
      ])
      let last = try #require(try world.details()?.participants.last)
      #expect(last.identity.user == world.bob && !last.id.isEmpty)
      #expect(last.acceptance == .pending && last.role == .privateUser)
      #expect(try world.seen(as: world.stranger) == "! zoneNotFound")
      #expect(try world.accept(as: world.stranger) == "ok")
      _ = try world.modify([try world.reshare { $0.publicPermission = .readOnly }])
      #expect(try world.seen(as: world.stranger) == "S r")
    }
    _ = try world.modify([try world.reshare { $0.publicPermission = .none }])
    #expect(try world.details()?.participants.count == 1)
  }

  @Test("However many invitations are open, a request reads the accounts once")
  func openInvitationsReadTheAccountsOnce() throws {
    let world = try World()
    let guests = (1...50).map { world.guest("g\($0)") }
    _ = try world.modify([world.share(of: "r", guests), fresh("r")])
    let url = try world.url()
    let storage = WatchedStorage(world.storage)
    var requests = 0
    func ask(_ request: CloudRequest, as caller: Caller) throws {
      storage.reset()
      requests += 1
      let call = CloudCall(
        container: World.container, database: .private, requestID: "r\(requests)",
        request: request)
      _ = try world.machine.answer(call, from: caller, now: world.now, in: storage)
    }
    try ask(
      .resolveShares(ResolveShares(urls: Array(repeating: url, count: 10))), as: world.stranger)
    #expect(storage.accountReads == 1)
    try ask(.modifyRecords(ModifyRecords(save: [try world.reshare()])), as: world.phone)
    #expect(storage.accountReads == 1)
    let everyone = (1...1_000).map { world.guest("h\($0)") }
    try ask(
      .modifyRecords(ModifyRecords(save: [try world.reshare { $0.participants += everyone }])),
      as: world.phone)
    #expect(storage.accountReads == 0, "too many are refused before they are looked up")
  }

  @Test("An account is found by its address, however it is written")
  func accountsAreFoundByTheirAddresses() throws {
    let world = try World()
    for name in ["Carol", "dave", "Dave"] {
      _ = try world.machine.createAccount(name, in: world.storage)
    }
    func find(_ address: String) throws -> String? {
      let reply = try world.ask(.findUsers([.email(address)])).reply()
      guard case .usersFound(let found) = reply, let user = found.first?.value?.user
      else { return nil }
      return try world.storage.account(user)?.name
    }
    #expect(try find("Carol@example.com") == "Carol" && find("carol@EXAMPLE.com") == "Carol")
    #expect(try find("carol") == "Carol" && find("carol@example.org") == nil)
    #expect(try find("dave@example.com") == "dave" && find("Dave@example.com") == "Dave")
  }

  @Test("A full share accepts no other person, and a participant who accepts again stays")
  func fullShareAcceptsNoOtherPerson() throws {
    var limits = CloudLimits()
    limits.shareParticipants = 1
    let world = try World(limits: limits)
    let carol = Caller(
      user: try world.machine.createAccount("carol", in: world.storage).user, device: "carol's")
    _ = try world.modify([world.share(of: "r", open: .readWrite), fresh("r")])
    #expect(try world.accept(as: world.stranger) == "ok")
    #expect(try world.accept(as: carol) == "tooManyParticipants")
    #expect(try world.accept(as: world.stranger) == "ok")
    #expect(try world.details()?.participants.map(\.identity.user) == [world.alice, world.bob])
  }

  @Test("The ID of a participant has at most 255 bytes")
  func participantIDsAreLimited() throws {
    for (length, words) in [
      (255, "+r ok, +S ok"), (256, "+r batchRequestFailed, +S invalidArguments"),
    ] {
      let world = try World()
      var guest = world.guest("bob")
      guest.id = String(repeating: "p", count: length)
      #expect(try world.modify([fresh("r"), world.share(of: "r", [guest])]) == words)
    }
  }

  @Test("Of two accounts with one phone number, the first by name is found")
  func sharedPhoneNumberFindsTheFirstAccount() throws {
    let world = try World()
    for user in [world.alice, world.bob] {
      try world.machine.setPerson(AccountRow.Person(phone: "+1"), of: user, in: world.storage)
    }
    guard case .usersFound(let results) = try world.ask(.findUsers([.phone("+1")])).reply()
    else { throw Unexpected() }
    #expect(results.map { $0.value?.user } == [world.alice])
  }

  /// Proves CS-163, SC-19.
  @Test(
    "Resolving a share shows what is known before joining; changing the result has no effect"
  )
  func resolvedShareMetadataIsDetachedCopy() throws {
    let world = try World()
    _ = try world.modify([
      fresh("top"), fresh("r", ["m": .int64(1), "n": .int64(2)], parent: "top"),
      world.share(of: "r", [world.guest("bob", .readOnly)]),
    ])
    let url = try world.url()
    func metadata(
      _ fields: FieldSelection?, as caller: Caller
    ) throws -> ShareMetadata {
      let request = CloudRequest.resolveShares(ResolveShares(urls: [url], rootFields: fields))
      guard case .sharesResolved(let results) = try world.ask(request, as: caller).reply(),
        let value = results.first?.value
      else { throw Unexpected() }
      return value
    }
    let plain = try metadata(nil, as: world.stranger)
    #expect(plain.root == nil && plain.rootID == id("r", world.visited))
    #expect(plain.share.id == id("S", world.visited) && plain.container == World.container)
    #expect(plain.owner.user == world.alice)
    #expect(plain.share.sharing?.currentParticipant == "p-bob")
    #expect(
      plain.role == .privateUser && plain.acceptance == .pending && plain.permission == .readOnly)
    var full = try metadata(.keys(["n"]), as: world.stranger)
    #expect(full.root?.fields == ["n": .int64(2)] && full.root?.parent == nil)
    let stored = try world.stored("r")
    full.root?.fields["n"] = nil
    #expect(try world.stored("r") == stored)
    for scope in DatabaseScope.allCases {
      let request = CloudRequest.acceptShares([url])
      #expect(try world.say(request, as: world.stranger, in: scope) == "+\(url) ok", "\(scope)")
    }
    #expect(try metadata(nil, as: world.stranger).acceptance == .accepted)
    let row = try world.storage.record(id("S"), in: world.database)
    #expect(row?.device == world.stranger.device, "it is not notified of its own change")
    let own = try metadata(.all, as: world.laptop)
    #expect(own.role == .owner && own.rootID == id("r") && own.root?.parent == id("top"))
    #expect(own.permission == .readWrite && own.acceptance == .accepted)
  }

  /// Proves CS-166.
  @Test("Users are found by address, number and name, and are shown as their settings allow")
  func usersAreFoundByAddressNumberAndName() throws {
    let world = try World()
    try world.machine.setPerson(
      AccountRow.Person(
        email: "Bob@Mail.example", phone: "+49 1", givenName: "Bob", familyName: "B"),
      of: world.bob, in: world.storage)
    #expect(throws: CloudError.self) {
      try world.machine.setPerson(AccountRow.Person(), of: UserID("_x"), in: world.storage)
    }
    let lookups: [(UserLookup, UserID?)] = [
      (.email("bob@mail.EXAMPLE"), world.bob), (.email("bob@example.com"), world.bob),
      (.email("bob"), world.bob), (.phone("+49 1"), world.bob), (.user(world.bob), world.bob),
      (.email("alice@example.com"), world.alice), (.email("alice@example.org"), nil),
      (.user(UserID(ZoneID.currentOwner)), world.alice), (.phone("+49 2"), nil),
      (.user(UserID("_x")), nil),
    ]
    guard
      case .usersFound(let results) = try world.ask(.findUsers(lookups.map(\.0))).reply()
    else { throw Unexpected() }
    for (lookup, result) in zip(lookups, results) {
      #expect(result.id == lookup.0 && result.value?.user == lookup.1, "\(lookup.0)")
      #expect(result.value?.lookup == (lookup.1 == nil ? nil : lookup.0))
    }
    #expect(results.first?.value?.givenName == "Bob")
    #expect(results.last?.error?.code == .unknownItem)
    // An invitation reaches whoever has the address by the time.
    _ = try world.modify([world.share(of: "r", [world.guest("carol")]), fresh("r")])
    #expect(try world.details()?.participants.last?.identity.hasAccount == false)
    let carol = try world.machine.createAccount("carol", in: world.storage).user
    #expect(try world.accept(as: Caller(user: carol, device: "c")) == "ok")
    #expect(try world.details()?.participants.last?.identity.user == carol)
  }

  /// Proves CS-248.
  @Test(
    "Invitations to several addresses of one account become one participant",
    arguments: [false, true])
  func invitationsOfOneAccountBecomeOne(isReversed: Bool) throws {
    let world = try World()
    var number = world.guest("number")
    number.identity = UserIdentity(lookup: .phone("+49 3"))
    _ = try world.modify([world.share(of: "r", [world.guest("carol"), number]), fresh("r")])
    #expect(try world.details()?.participants.count == 3)
    let carol = try world.machine.createAccount("carol", in: world.storage).user
    try world.machine.setPerson(
      AccountRow.Person(email: "carol@example.com", phone: "+49 3"), of: carol, in: world.storage)
    #expect(try world.accept(as: Caller(user: carol, device: "c")) == "ok")
    let save = try world.reshare { if isReversed { $0.participants.reverse() } }
    #expect(try world.modify([save]) == "+S ok")
    let people = try #require(try world.details()?.participants)
    #expect(people.map(\.identity.user) == [world.alice, carol])
    #expect(people.last?.acceptance == .accepted)
  }

  @Test("A chain of 2,000 records enters and leaves a share in one request")
  func longChainIsSharedInOneRequest() throws {
    let world = try World()
    for start in stride(from: 0, to: 2000, by: 400) {
      _ = try world.modify(
        (start..<start + 400).map { fresh("c\($0)", parent: $0 == 0 ? nil : "c\($0 - 1)") })
    }
    let save = [world.share(of: "c0"), try world.edit("c0")]
    let storage = WatchedStorage(world.storage)
    let call = CloudCall(
      container: World.container, database: .private, requestID: "share",
      request: .modifyRecords(ModifyRecords(save: save)))
    _ = try world.machine.answer(call, from: world.phone, now: world.now, in: storage)
    #expect(storage.calls < 5 * 2000, "the chain is climbed once, not from each record")
    #expect(try world.stored("c1999")?.share == id("S"))
    _ = try world.modify(delete: [id("S")])
    #expect(try world.stored("c1999")?.share == nil)
  }
}
