import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

/// The plans by which a remote storage reads in one round trip.
struct ReadPlanTests {
  private static let other = ZoneID(name: "Other")

  private static func world() throws -> World {
    let world = try World(zones: [World.zone, other])
    _ = try world.modify([
      fresh("top"), fresh("kid", ["n": .int64(1)], parent: "top"), fresh("a", zone: other),
    ])
    _ = try world.ask(
      .modifySubscriptions(
        ModifySubscriptions(save: [
          Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
        ])))
    return world
  }

  /// The reads that the plan of a request does not name.
  private func misses(_ request: CloudRequest, _ world: World) throws -> [String] {
    let storage = WatchedStorage(world.storage)
    storage.comparePlans()
    let call = CloudCall(
      container: World.container, database: .private, requestID: "watched", request: request)
    try world.machine.foresee(
      call, account: "alice", user: world.alice, device: world.phone.device, in: storage)
    let answer = try world.machine.answer(call, from: world.phone, now: world.now, in: storage)
    #expect(!answer.result.words.contains("!"), "\(answer.result.words)")
    return storage.misses
  }

  @Test("The plan of a request that only reads names everything that it reads")
  func planOfLookupIsComplete() throws {
    let world = try ReadPlanTests.world()
    guard
      case .zoneChanges(let page) = try world.ask(
        .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil, limit: 1))
      ).reply()
    else { throw Unexpected() }
    let query = Query(recordType: "Note")
    let requests: [CloudRequest] = [
      .fetchCurrentUser, .fetchRecords(FetchRecords(ids: [id("kid"), id("none")])),
      .fetchRecords(FetchRecords(ids: [id("a", ReadPlanTests.other), id("top")])),
      .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil)),
      .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: page.token, limit: 1)),
      .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)),
      .fetchZones([World.zone, ZoneID(name: "None")]), .fetchSubscriptions(nil),
      .queryRecords(QueryRecords(query: query, zone: World.zone)),
    ]
    for request in requests {
      let found = try misses(request, world)
      #expect(found.isEmpty, "\(request.name): \(found)")
    }
  }

  @Test("The plan of a modification names all rows that it reads")
  func planOfModificationIsComplete() throws {
    let edit = fresh("top", ["n": .int64(2)])
    let link = fresh("new", ["to": pointer("top")], parent: "top")
    let requests: [CloudRequest] = [
      .modifyRecords(ModifyRecords(save: [fresh("new")])),
      .modifyRecords(
        ModifyRecords(save: [edit, fresh("b", zone: ReadPlanTests.other)], policy: .allKeys)),
      .modifyRecords(ModifyRecords(save: [link])),
      .modifyRecords(ModifyRecords(delete: [id("kid"), id("none")])),
      .modifyZones(ModifyZones(save: [ZoneID(name: "New")])),
      .modifySubscriptions(
        ModifySubscriptions(save: [
          Subscription(id: SubscriptionID("t"), kind: .database(recordType: nil))
        ])),
    ]
    for request in requests {
      let found = try misses(request, try ReadPlanTests.world())
      #expect(found.isEmpty, "\(request.name): \(found)")
    }
  }
}
