import CloudMachine
import CloudProtocol
import Records
import Testing

/// Subscriptions and the pushes they call for.
///
/// Rules: CS-91 to CS-103 and CS-150 to CS-170.
struct SubscriptionTests {
  private static func query(_ zone: ZoneID? = nil) -> Subscription.Kind {
    .query(
      QuerySubscription(
        query: Query(recordType: "Note"), zone: zone, options: .firesOnRecordCreation))
  }

  /// Proves CS-91, CS-92.
  @Test("Each kind of subscription is accepted only in the databases that support it")
  func subscriptionKindsFitTheirDatabases() throws {
    let world = try World()
    let rows: [(Subscription.Kind, DatabaseScope, String)] = [
      (.database(recordType: nil), .private, "ok"), (.database(recordType: nil), .shared, "ok"),
      (.database(recordType: nil), .public, "invalidArguments"),
      (.zone(World.zone, recordType: nil), .private, "ok"),
      (.zone(ZoneID(name: "N"), recordType: nil), .private, "zoneNotFound"),
      (.zone(.default, recordType: nil), .private, "invalidArguments"),
      (.zone(World.zone, recordType: nil), .public, "invalidArguments"),
      (.zone(World.zone, recordType: nil), .shared, "invalidArguments"),
      (SubscriptionTests.query(), .private, "ok"), (SubscriptionTests.query(), .public, "ok"),
      (SubscriptionTests.query(ZoneID(name: "N")), .private, "zoneNotFound"),
      (SubscriptionTests.query(), .shared, "invalidArguments"),
    ]
    for (kind, scope, words) in rows {
      let save = Subscription(id: SubscriptionID("s"), kind: kind)
      #expect(
        try world.say(.modifySubscriptions(ModifySubscriptions(save: [save])), in: scope)
          == "+s \(words)", "\(kind) \(scope)")
    }
    var silent = Subscription(id: SubscriptionID("n"), kind: .database(recordType: nil))
    silent.notificationInfo = nil
    var wordy = Subscription(id: SubscriptionID("w"), kind: .database(recordType: nil))
    wordy.notificationInfo?.desiredKeys = ["a", "b", "c", "d"]
    let nameless = Subscription(id: SubscriptionID(""), kind: .database(recordType: nil))
    #expect(
      try world.say(
        .modifySubscriptions(ModifySubscriptions(save: [silent, wordy, nameless])))
        == "+n invalidArguments, +w invalidArguments, + invalidArguments")
  }

  /// Proves CS-96, CS-97, WS-69.
  @Test("Subscriptions are saved, replaced, listed and deleted per user, also in public")
  func subscriptionsAreStoredPerUser() throws {
    let world = try World()
    let b = Subscription(id: SubscriptionID("b"), kind: SubscriptionTests.query())
    let a = Subscription(id: SubscriptionID("a"), kind: SubscriptionTests.query())
    for scope in [DatabaseScope.private, .public] {
      func say(_ request: CloudRequest, _ caller: Caller? = nil) throws -> String {
        try world.say(request, as: caller, in: scope)
      }
      #expect(try say(.modifySubscriptions(ModifySubscriptions(save: [b, a]))) == "+b ok, +a ok")
      #expect(try say(.fetchSubscriptions(nil)) == "a ok, b ok")
      #expect(try say(.fetchSubscriptions(nil), world.stranger) == "")
      #expect(
        try say(.fetchSubscriptions([SubscriptionID("b"), SubscriptionID("x")]))
          == "b ok, x unknownItem")
      #expect(
        try say(.modifySubscriptions(ModifySubscriptions(save: [a, a]))) == "! invalidArguments")
      #expect(
        try say(
          .modifySubscriptions(
            ModifySubscriptions(save: [a], delete: [SubscriptionID("b"), SubscriptionID("x")])))
          == "+a ok, -b ok, -x unknownItem")
      #expect(try say(.fetchSubscriptions(nil)) == "a ok")
    }
  }

  /// Proves CS-93, CS-95, S4.
  @Test("Each matching subscription sends one push per request to all other devices")
  func matchingSubscriptionPushesOncePerRequest() throws {
    let second = ZoneID(name: "Y")
    let world = try World(zones: [World.zone, second])
    let kinds: [(String, Subscription.Kind)] = [
      ("all", .database(recordType: nil)), ("notes", .database(recordType: "Note")),
      ("zone", .zone(World.zone, recordType: nil)),
      ("zone-pics", .zone(World.zone, recordType: "Pic")),
    ]
    let saves = kinds.map { Subscription(id: SubscriptionID($0.0), kind: $0.1) }
    _ = try world.say(.modifySubscriptions(ModifySubscriptions(save: saves)))
    _ = try world.say(.modifySubscriptions(ModifySubscriptions(save: saves)), as: world.stranger)
    func fired(_ request: ModifyRecords, _ isPublic: Bool = false) throws -> String {
      let answer = try world.ask(
        .modifyRecords(request), as: world.laptop, in: isPublic ? .public : .private)
      for order in answer.pushes {
        #expect(order.user == world.alice && order.exceptDevice == "laptop")
        #expect(order.push.container == World.container && order.push.database == .private)
        let isZone = order.push.subscription.rawValue.hasPrefix("zone")
        #expect(order.push.zone == (isZone ? World.zone : nil))
      }
      return answer.pushes.map(\.push.subscription.rawValue).joined(separator: " ")
    }
    #expect(try fired(ModifyRecords(save: [fresh("a"), fresh("b")])) == "all notes zone")
    #expect(try fired(ModifyRecords(save: [fresh("p", type: "Pic")])) == "all zone zone-pics")
    #expect(try fired(ModifyRecords(save: [fresh("c", zone: second)])) == "all notes")
    #expect(try fired(ModifyRecords(delete: [id("p")])) == "all zone zone-pics")
    #expect(try fired(ModifyRecords(delete: [id("p")])) == "", "it was gone")
    #expect(try fired(ModifyRecords(save: [fresh("a"), fresh("new")])) == "", "nothing was done")
    #expect(try fired(ModifyRecords(save: [fresh("d", zone: .default)])) == "")
    #expect(try fired(ModifyRecords(save: [fresh("d", zone: .default)]), true) == "")
    let zones = try world.ask(
      .modifyZones(ModifyZones(save: [ZoneID(name: "X")], delete: [second])))
    #expect(zones.pushes.map(\.push.subscription.rawValue) == ["all"])
    #expect(zones.pushes.first?.exceptDevice == "phone")
    let orders = try world.machine.removeZone(
      World.zone, for: .purged, in: world.database, now: world.now, storage: world.storage
    ).pushes
    #expect(orders.map(\.push.subscription.rawValue) == ["all"])
    #expect(orders.first?.exceptDevice == nil && orders.first?.user == world.alice)
  }
}
