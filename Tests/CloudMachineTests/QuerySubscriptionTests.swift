import CloudMachine
import CloudProtocol
import Records
import Testing

/// What query subscriptions fire, for whom and with what.
///
/// Rules: CS-91 to CS-103 and CS-150 to CS-170.
struct QuerySubscriptionTests {
  private static func subscription(
    _ name: String, _ filters: [Query.Filter] = [],
    _ options: QuerySubscription.Options = [
      .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
    ], type: String = "Note", zone: ZoneID? = nil, keys: [String] = []
  ) -> Subscription {
    Subscription(
      id: SubscriptionID(name),
      kind: .query(
        QuerySubscription(
          query: Query(recordType: type, filters: filters), zone: zone, options: options)),
      notificationInfo: .init(desiredKeys: keys))
  }

  private static func subscribe(
    _ world: World, _ subscriptions: [Subscription], as caller: Caller? = nil,
    in scope: DatabaseScope = .private
  ) throws -> String {
    try world.say(
      .modifySubscriptions(ModifySubscriptions(save: subscriptions)), as: caller, in: scope)
  }

  /// The pushes a request calls for: `name reason record`.
  private static func fired(
    _ world: World, _ request: ModifyRecords, as caller: Caller? = nil,
    in scope: DatabaseScope = .private
  ) throws -> String {
    let answer = try world.ask(.modifyRecords(request), as: caller, in: scope)
    for order in answer.pushes {
      let caller = caller ?? world.phone
      #expect(order.exceptDevice == (order.user == caller.user ? caller.device : nil))
      #expect(order.push.zone == order.push.query?.record.zone && order.push.database == scope)
    }
    return answer.pushes.map(text).joined(separator: ", ")
  }

  private static func text(_ order: OutgoingPush) -> String {
    let query = order.push.query
    return "\(order.push.subscription.rawValue) \(query.map { "\($0.reason)" } ?? "-") "
      + "\(query?.record.name ?? "-")"
  }

  /// Proves CS-251.
  @Test("A user has a bounded number of subscriptions in a database, each of which can be replaced")
  func subscriptionsOfUserAreLimited() throws {
    var limits = CloudLimits()
    limits.subscriptions = 2
    let world = try World(limits: limits)
    func save(_ names: String...) throws -> String {
      try Self.subscribe(world, names.map { Self.subscription($0) })
    }
    #expect(try save("a", "b", "c").hasSuffix("c limitExceeded"))
    #expect(try !save("a", "b").contains("limitExceeded"))
    #expect(try save("d").contains("limitExceeded"))
    _ = try world.say(.modifySubscriptions(ModifySubscriptions(delete: [SubscriptionID("a")])))
    #expect(try !save("d").contains("limitExceeded"))
    #expect(try save("a").contains("limitExceeded"))
    // What the same request deletes does not count.
    let exchange = ModifySubscriptions(
      save: [Self.subscription("a")], delete: [SubscriptionID("b")])
    #expect(try !world.say(.modifySubscriptions(exchange)).contains("limitExceeded"))
  }

  /// Proves CS-251.
  @Test("A subscription has a bounded size, since every public save reads those of all users")
  func subscriptionHasABoundedSize() throws {
    let world = try World()
    func save(_ count: Int) throws -> String {
      let text = filter("text", .equals, .string(String(repeating: "x", count: count)))
      return try Self.subscribe(world, [Self.subscription("a", [text])], in: .public)
    }
    #expect(try save(CloudLimits().subscriptionBytes - 200).hasSuffix("a ok"))
    #expect(try save(CloudLimits().subscriptionBytes).contains("limitExceeded"))
  }

  /// Proves CS-82.
  @Test("A search of the whole record fires for the words that the same query finds")
  func wholeRecordSearchFiresForSearchableFields() throws {
    let world = try World()
    let words = filter("", .containsAllTokens, .string("milk"))
    _ = try Self.subscribe(world, ["a", "b"].map { Self.subscription($0, [words]) })
    func save(_ name: String, _ key: String) throws -> String {
      let record = fresh(name, [key: .string("Bread, milk")])
      return try Self.fired(world, ModifyRecords(save: [record]))
    }
    #expect(try save("r1", "secret") == "a created r1, b created r1")
    let type = RecordTypeID(
      container: World.container, environment: .development, name: "Note")
    try world.machine.setIndexes([.queryable], of: "secret", recordType: type, in: world.storage)
    #expect(try save("r2", "secret") == "")
    #expect(try save("r3", "text") == "a created r3, b created r3")
    #expect(try world.find([words], type: "Note") == "r3")
  }

  /// Proves CS-103.
  @Test("A change sends one push per matching subscription and record, with its reason")
  func matchingChangePushesPerSubscription() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    typealias Tests = QuerySubscriptionTests
    let large = filter("n", .greaterThan, .int64(5))
    #expect(
      try Tests.subscribe(
        world,
        [
          Tests.subscription("all"), Tests.subscription("created", [], .firesOnRecordCreation),
          Tests.subscription("deleted", [large], .firesOnRecordDeletion),
          Tests.subscription("updated", [large], .firesOnRecordUpdate),
          Tests.subscription("pics", type: "Pic"), Tests.subscription("y", zone: second),
        ]) == "+all ok, +created ok, +deleted ok, +updated ok, +pics ok, +y ok")
    let rows: [(ModifyRecords, String)] = [
      (
        ModifyRecords(save: [fresh("a", ["n": .int64(1)]), fresh("b", ["n": .int64(9)])]),
        "all created a, all created b, created created a, created created b"
      ),
      (
        ModifyRecords(save: [fresh("a", ["n": .int64(7)])], policy: .changedKeys),
        "all updated a, updated updated a"
      ),
      (
        ModifyRecords(save: [fresh("a", ["n": .int64(2)])], policy: .changedKeys), "all updated a"
      ),
      (
        ModifyRecords(delete: [id("a"), id("b")]), "all deleted a, all deleted b, deleted deleted b"
      ),
      (ModifyRecords(delete: [id("a")]), ""), (ModifyRecords(save: [fresh("c", tag: "x")]), ""),
      (ModifyRecords(save: [fresh("p", type: "Pic")]), "pics created p"),
      (
        ModifyRecords(save: [fresh("d", zone: second)]),
        "all created d, created created d, y created d"
      ),
      (
        ModifyRecords(save: [fresh("e", zone: .default)]), "all created e, created created e"
      ),
      (
        ModifyRecords(save: [fresh("t"), fresh("o", ["n": .int64(8)], owners: ["t"])]),
        "all created t, all created o, created created t, created created o"
      ),
      (
        ModifyRecords(delete: [id("t")]), "all deleted t, all deleted o, deleted deleted o"
      ),
    ]
    for (request, words) in rows { #expect(try Tests.fired(world, request) == words) }
    #expect(
      try Tests.fired(world, ModifyRecords(save: [fresh("s")]), as: world.stranger) == "",
      "another user's database")
  }

  /// Proves CS-94.
  @Test("A subscription that fires once is deleted after its first push")
  func fireOnceSubscriptionIsDeletedAfterPush() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    _ = try Tests.subscribe(
      world,
      [
        Tests.subscription("once", [], [.firesOnRecordCreation, .firesOnce]),
        Tests.subscription("zeta"),
      ])
    #expect(
      try Tests.fired(world, ModifyRecords(save: [fresh("a"), fresh("b")]))
        == "once created a, zeta created a, zeta created b")
    #expect(try world.say(.fetchSubscriptions(nil)) == "zeta ok")
    #expect(try Tests.fired(world, ModifyRecords(save: [fresh("c")])) == "zeta created c")
  }

  @Test("Changes by another process are pushed too, as far as they are still known")
  func changesByOtherProcessArePushed() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    _ = try world.modify([fresh("old", ["n": .int64(9)]), fresh("gone"), fresh("pic", type: "Pic")])
    let known = DatabasePosition(try #require(try world.storage.database(world.database)))
    _ = try Tests.subscribe(
      world,
      [
        Tests.subscription("all", keys: ["n"]), Tests.subscription("pics", type: "Pic"),
        Tests.subscription("large", [filter("n", .greaterThan, .int64(5))]),
        // Without its content a deleted record may have had this value.
        Tests.subscription("other", [filter("n", .notEquals, .int64(5))], .firesOnRecordDeletion),
        Tests.subscription("once", [], [.firesOnRecordCreation, .firesOnce]),
      ])
    func told(after position: DatabasePosition) throws -> [String] {
      try world.machine.queryPushes(
        forChangesAfter: position, in: world.database, storage: world.storage
      ).map { order in
        #expect(order.exceptDevice == nil && order.user == world.alice)
        return Self.text(order)
      }
    }
    #expect(try told(after: known) == [])
    _ = try world.modify([fresh("old", ["n": .int64(8)])], policy: .changedKeys)
    _ = try world.modify([fresh("home", zone: .default)])
    _ = try world.modify([fresh("new", ["n": .int64(1)])], delete: [id("gone"), id("pic")])
    #expect(
      try told(after: known) == [
        "all created home", "all updated old", "all created new", "all deleted gone",
        "large updated old", "pics deleted pic",
      ])
    let latest = DatabasePosition(try #require(try world.storage.database(world.database)))
    #expect(try told(after: latest) == [])
    // A record that is new and was changed since was both created and updated.
    _ = try world.modify([fresh("twice", ["n": .int64(1)])])
    _ = try world.modify([fresh("twice", ["n": .int64(6)])], policy: .changedKeys)
    #expect(
      try told(after: latest) == [
        "all created twice", "all updated twice", "large created twice", "large updated twice",
      ])
  }

  @Test("A record that only joins or leaves a share was not updated, also by another process")
  func joiningAShareIsNoUpdate() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    _ = try world.modify([fresh("root"), fresh("kid", parent: "root")])
    _ = try Tests.subscribe(world, [Tests.subscription("all")])
    for (saves, words) in [(true, "all updated root"), (false, "")] {
      let known = DatabasePosition(try #require(try world.storage.database(world.database)))
      let row = try world.storage.record(id("kid"), in: world.database)
      let request =
        saves
        ? ModifyRecords(save: [try world.edit("root"), world.share(of: "root")])
        : ModifyRecords(delete: [id("S")])
      #expect(try Tests.fired(world, request) == words)
      #expect(
        try world.storage.record(id("kid"), in: world.database)?.changedAt != row?.changedAt)
      let pushes = try world.machine.queryPushes(
        forChangesAfter: known, in: world.database, storage: world.storage)
      #expect(pushes.map(Tests.text).joined(separator: ", ") == words)
    }
  }

  /// Proves CS-96.
  @Test("In the public database every user's matching subscriptions fire")
  func publicChangesFireEveryUsersSubscriptions() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    let mine = FieldValue.string(ZoneID.currentOwner)
    _ = try Tests.subscribe(world, [Tests.subscription("a")], as: world.phone, in: .public)
    _ = try Tests.subscribe(
      world, [Tests.subscription("b", [filter("___createdBy", .equals, mine)])],
      as: world.stranger, in: .public)
    func save(_ name: String, _ caller: Caller) throws -> [String] {
      let request = ModifyRecords(save: [fresh(name, zone: .default)])
      return try world.ask(.modifyRecords(request), as: caller, in: .public).pushes.map {
        "\($0.user == world.alice ? "alice" : "bob") \($0.push.subscription.rawValue)"
      }
    }
    #expect(try save("x", world.laptop) == ["alice a"])
    #expect(try save("y", world.stranger) == ["alice a", "bob b"])
    #expect(try Tests.fired(world, ModifyRecords(save: [fresh("z")])) == "", "private is another")
  }

  /// Proves CS-98.
  @Test("A push carries up to three plain fields, truncates long texts and leaves out the rest")
  func pushCarriesUpToThreePlainFields() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    let names = [["s", "n", "l"], ["b", "secret", "missing"], ["w", "s", "n"]]
    _ = try Tests.subscribe(
      world, names.enumerated().map { Tests.subscription("\($0.offset)", keys: $0.element) })
    var save = fresh(
      "a",
      [
        "s": .string(String(repeating: "é", count: 300)), "n": .int64(4), "l": pointer("x"),
        "b": .bytes([1]), "w": .string(String(repeating: "👨‍👩‍👧‍👦", count: 300)),
      ])
    save.changes.append(.init(key: "secret", field: Field(.string("s"), isEncrypted: true)))
    let short = FieldValue.string(String(repeating: "é", count: 100))
    let pushes = try world.ask(.modifyRecords(ModifyRecords(save: [save]))).pushes
    #expect(
      pushes.map(\.push.query?.fields) == [
        ["s": short, "n": .int64(4), "l": pointer("x")], [:], ["s": short, "n": .int64(4)],
      ], "100 families take 2,500 bytes")
    let gone = try world.ask(.modifyRecords(ModifyRecords(delete: [id("a")]))).pushes
    #expect(gone.first?.push.query?.fields["n"]?.value == .int64(4), "as it was")
  }

  @Test("The fields of a push may have exactly as many bytes as its limit")
  func pushedFieldsReachTheirLimit() throws {
    typealias Tests = QuerySubscriptionTests
    var limits = CloudLimits()
    limits.pushFieldBytes = 10
    let world = try World(limits: limits)
    _ = try Tests.subscribe(world, [Tests.subscription("s", keys: ["a", "b"])])
    for (text, keys) in [("1234", ["a", "b"]), ("12345", ["a"])] {
      let save = fresh("r\(text)", ["a": .string("1234"), "b": .string(text)])
      let pushes = try world.ask(.modifyRecords(ModifyRecords(save: [save]))).pushes
      #expect(pushes.map { $0.push.query?.fields.keys } == [keys])
    }
  }

  @Test("Changes by another process read no records where nothing is subscribed to")
  func foreignChangesWithoutSubscriptionsReadNothing() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    _ = try world.modify((0..<50).map { fresh("r\($0)") })
    for isSubscribed in [false, true] {
      let storage = WatchedStorage(world.storage)
      let pushes = try world.machine.pushes(
        forChangesAfter: 0, in: world.database, storage: storage)
      #expect(pushes.count == (isSubscribed ? 1 : 0))
      #expect((storage.rows < 10) == !isSubscribed, "\(storage.rows) rows")
      let all = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      _ = try Tests.subscribe(world, [all])
    }
  }

  /// Proves CS-92, CS-136.
  @Test("A query subscription needs a reason to fire, a valid query and its zone")
  func invalidQuerySubscriptionIsRefused() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    _ = try world.modify([fresh("a", ["n": .int64(1)])])
    var silent = Tests.subscription("silent")
    silent.notificationInfo = nil
    let rows: [(Subscription, String)] = [
      (Tests.subscription("none", [], []), "invalidArguments"),
      (Tests.subscription("onlyOnce", [], .firesOnce), "invalidArguments"),
      (silent, "invalidArguments"),
      (Tests.subscription("keys", keys: ["a", "b", "c", "d"]), "invalidArguments"),
      (Tests.subscription("users", type: "Users"), "invalidArguments"),
      (Tests.subscription("type", type: "my type"), "invalidArguments"),
      (Tests.subscription("kind", [filter("n", .equals, .string("1"))]), "invalidArguments"),
      (Tests.subscription("zone", zone: ZoneID(name: "N")), "zoneNotFound"),
      (Tests.subscription("fine", [filter("n", .equals, .double(1))]), "ok"),
    ]
    for (subscription, words) in rows {
      let name = subscription.id.rawValue
      #expect(try Tests.subscribe(world, [subscription]) == "+\(name) \(words)")
    }
    #expect(
      try Tests.subscribe(world, [Tests.subscription("fine")], in: .shared)
        == "+fine invalidArguments")
    #expect(
      try Tests.subscribe(world, [Tests.subscription("public", [], .firesOnce)], in: .public)
        == "+public invalidArguments")
    let own = ZoneID(name: "Z", owner: world.alice.rawValue)
    _ = try Tests.subscribe(
      world, [Tests.subscription("fine", [filter("l", .equals, pointer("a", own))], zone: own)])
    #expect(
      try Tests.fired(world, ModifyRecords(save: [fresh("b", ["l": pointer("a")])]))
        == "fine created b", "the owner's own name means the same zone")
  }

  /// Proves CS-243.
  @Test func aSavedSubscriptionIsAnsweredAsItWasSentAndFetchedWithTheStoredNames() throws {
    typealias Tests = QuerySubscriptionTests
    let world = try World()
    let named = ZoneID(name: World.zone.name, owner: world.alice.rawValue)
    func author(_ name: String) -> Query.Filter {
      filter(
        "___createdBy", .equals,
        .reference(Reference(target: RecordID(name: name, zone: .default), action: .none)))
    }
    let (own, real) = (author(ZoneID.currentOwner), author(world.alice.rawValue))
    for (zone, by) in [(World.zone, own), (named, real), (named, own)] {
      let sent = [
        Tests.subscription("q", [by], zone: zone),
        Subscription(id: SubscriptionID("z"), kind: .zone(zone, recordType: nil)),
      ]
      let request = CloudRequest.modifySubscriptions(
        ModifySubscriptions(save: sent, delete: [SubscriptionID("none")]))
      guard
        case .subscriptionsModified(let saved, let deleted) = try world.ask(request).reply(),
        case .subscriptions(let found) = try world.ask(
          .fetchSubscriptions(sent.map(\.id))
        ).reply()
      else { throw Unexpected() }
      #expect(saved.map(\.value) == sent && deleted.first?.error?.code == .unknownItem)
      #expect(
        found.map(\.value) == [
          Tests.subscription("q", [real], zone: World.zone),
          Subscription(id: SubscriptionID("z"), kind: .zone(World.zone, recordType: nil)),
        ])
      let save = ModifyRecords(save: [fresh("a")], policy: .allKeys)
      let pushes = try world.ask(.modifyRecords(save)).pushes
      #expect(pushes.map(\.push.subscription.rawValue) == ["q", "z"])
    }
  }
}
