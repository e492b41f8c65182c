import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

/// How the machine uses its storage: sparingly, and ready for it to fail at any call.
struct StorageUseTests {
  private let requests: [CloudRequest] = [
    .modifyRecords(
      ModifyRecords(
        save: [fresh("n", parent: "r1", owners: ["r2"]), fresh("m", owners: ["n"])],
        delete: [id("r3"), id("r4")])),
    .modifyRecords(ModifyRecords(save: [fresh("r1")], delete: [id("r2")])),
    .modifyZones(ModifyZones(save: [ZoneID(name: "X")], delete: [ZoneID(name: "Y")])),
    .modifySubscriptions(
      ModifySubscriptions(
        save: [Subscription(id: SubscriptionID("t"), kind: .zone(World.zone, recordType: nil))],
        delete: [SubscriptionID("s")])),
    .fetchRecords(FetchRecords(ids: [id("r1"), id("r2")])),
    .fetchZoneChanges(FetchZoneChanges(zone: World.zone, since: nil, limit: 5)),
    .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)), .fetchZones([World.zone]),
    .fetchSubscriptions(nil), .fetchCurrentUser,
    .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: World.zone, limit: 5)),
    .uploadAsset(UploadAsset(recordType: "Note", key: "file", content: [1])),
    .downloadAsset(DownloadAsset(record: id("r1"), key: "file", checksum: "00")),
  ]

  private func world(records: Int) throws -> World {
    let world = try World(zones: [World.zone, ZoneID(name: "Y")])
    let subscription = Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
    let watched = QuerySubscription(
      query: Query(recordType: "Note"), zone: nil, options: [.firesOnRecordCreation, .firesOnce])
    let once = Subscription(id: SubscriptionID("once"), kind: .query(watched))
    _ = try world.say(.modifySubscriptions(ModifySubscriptions(save: [subscription])))
    defer { _ = try? world.say(.modifySubscriptions(ModifySubscriptions(save: [once]))) }
    for start in stride(from: 0, to: records, by: 200) {
      _ = try world.modify((start..<min(records, start + 200)).map { fresh("r\($0)") })
    }
    // The first query for a type prepares the storage.
    _ = try world.query(Query(recordType: "Note"), limit: 1)
    return world
  }

  private func answer(
    _ request: CloudRequest, _ world: World, _ storage: WatchedStorage
  ) throws -> CloudAnswer {
    let call = CloudCall(
      container: World.container, database: .private, requestID: "watched", request: request)
    return try world.machine.answer(call, from: world.phone, now: world.now, in: storage)
  }

  /// Proves I22.
  @Test("A request reads as much of 2,000 records as of 20, and nothing after its commit")
  func requestReadsBoundedRowsBeforeCommit() throws {
    for request in requests {
      let counts = try [20, 2000].map { records in
        let world = try world(records: records)
        let storage = WatchedStorage(world.storage)
        _ = try answer(request, world, storage)
        #expect(storage.lateReads == 0)
        return [storage.calls, storage.rows]
      }
      #expect(counts[0] == counts[1], "\(request)")
      #expect(counts[1][1] <= 20)
    }
  }

  @Test("A page of a feed reads few records if they are large, and all at twice if they are small")
  func feedReadsByTheSizeOfRecords() throws {
    var limits = CloudLimits()
    limits.pageBytes = 10_000
    for (length, records, calls, rows) in [
      (1, 100, 5, 104), (100, 93, 5, 104), (1_000, 10, 4, 35), (9_000, 2, 4, 35),
    ] {
      let world = try World(limits: limits)
      let text = String(repeating: "x", count: length)
      _ = try world.modify((0..<150).map { fresh("r\($0)", ["t": .string(text)]) })
      let storage = WatchedStorage(world.storage)
      let request = FetchZoneChanges(zone: World.zone, since: nil, limit: 100)
      let answer = try answer(.fetchZoneChanges(request), world, storage)
      guard case .success(.zoneChanges(let page)) = answer.result else { throw Unexpected() }
      #expect(page.modified.count == records)
      #expect((storage.calls, storage.rows) == (calls, rows), "\(length)")
    }
  }

  /// Proves PB-7.
  @Test("A failed call to the storage changes nothing, and the same request works later")
  func storageFailureAllowsSameRequestLater() throws {
    for request in requests {
      let world = try world(records: 20)
      let storage = WatchedStorage(world.storage)
      let expected = try answer(request, world, WatchedStorage(world.storage.snapshot()))
      storage.reset()
      var failing = 1
      while true {
        let before = try contents(world)
        storage.reset(failingCall: failing)
        do {
          let found = try answer(request, world, storage)
          #expect(found == expected, "\(request)")
          break
        } catch is WatchedStorage.Failure {
          #expect(try contents(world) == before, "call \(failing) of \(request)")
          failing += 1
        }
      }
      #expect(failing > 1)
    }
  }

  private func contents(_ world: World) throws -> [String] {
    let storage = world.storage
    let key = ReceiptKey(user: world.alice, device: "phone", requestID: "watched")
    return [
      "\(String(describing: try storage.database(world.database)))",
      "\(try storage.zones(in: world.database))",
      "\(try storage.subscriptions(in: world.database))",
      "\(try storage.recordChanges(of: World.zone, in: world.database, after: 0, limit: .max))",
      "\(String(describing: try storage.receipt(key)))",
    ]
  }
}
