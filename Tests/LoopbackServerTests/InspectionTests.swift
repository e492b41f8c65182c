import CloudMachine
import CloudProtocol
import Records
import Testing

@testable import LoopbackServer

@Suite("Looking into a server")
struct InspectionTests {
  @Test("Databases are found by container and account, and each kind of subscription is read")
  func databasesAreListedByAccount() async throws {
    let world = World()
    try await world.prepare()
    #expect(await outcome(of: saving("a"), on: world.phone) == "ok")
    let watch = Subscription(
      id: SubscriptionID("public"),
      kind: .query(
        QuerySubscription(
          query: Query(recordType: "T"), zone: nil, options: .firesOnRecordCreation)))
    var subscribe = call("p", .modifySubscriptions(ModifySubscriptions(save: [watch])))
    subscribe.database = .public
    _ = try await world.other.send(subscribe)
    var shared = call(
      "s",
      .modifySubscriptions(
        ModifySubscriptions(save: [
          Subscription(id: .init("mine"), kind: .database(recordType: nil))
        ])
      ))
    shared.database = .shared
    shared.container = "b"
    _ = try await world.other.send(shared)

    let found = try world.server.databases().map { row in
      "\(row.container) \(row.environment) \(row.scope) \(row.account ?? "-") \(row.byteCount)"
    }
    #expect(
      found == [
        "b development shared bob 0", "c development public - 0", "c development private alice 2",
      ])
    let server = world.server
    for (account, scope, container, names) in [
      ("alice", .private, "c", ["all"]), ("alice", .public, "c", []),
      ("bob", .public, "c", ["public"]), ("bob", .private, "c", []),
      ("bob", .shared, "b", ["mine"]), ("bob", .shared, "c", []),
    ] as [(String, DatabaseScope, String, [String])] {
      let found = try server.subscriptions(container: container, account: account, scope: scope)
      #expect(found.map(\.id.rawValue) == names, "\(account) \(scope)")
    }
    _ = world.takeHeard()
    world.close()
  }

  @Test("A page of the latest records ends in a long run of deletions, and the next one goes on")
  func latestRecordsEndInARunOfDeletions() throws {
    let storage = MemoryStorage(identity: 1)
    try storage.commit([
      .putAccount(AccountRow(name: "alice", user: UserID("_alice"))),
      .putZone(ZoneRow(id: zoneA, incarnation: 1, changedAt: 1), in: alice),
      .putRecord(row("kept", 1), in: alice),
    ])
    try storage.commit(
      (2...30_001).map { .putRecord(tombstone("t\($0)", UInt64($0)), in: alice) })
    let server = try LoopbackServer(storage: storage)
    func page(before: UInt64?) throws -> LatestRecords {
      try server.latestRecords(
        in: zoneA, container: "c", account: "alice", environment: .development, before: before,
        limit: 5_000)
    }
    let first = try page(before: nil)
    #expect(first.records.isEmpty && first.count == 1)
    #expect(first.next == 10_002, "20,000 changes were read")
    let second = try page(before: first.next)
    #expect(second.records.map(\.id.name) == ["kept"] && second.next == nil)
    server.close()
  }
}
