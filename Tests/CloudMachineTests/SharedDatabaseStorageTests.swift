import CloudMachine
import CloudProtocol
import Records
import SimulationSupport
import Testing

/// How requests about shares use the storage: sparingly, and all or nothing over all databases.
struct SharedDatabaseStorageTests {
  /// A request, who makes it and where.
  struct Ask: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var caller: @Sendable (World) -> Caller
    var scope: DatabaseScope
    var request: @Sendable (World) throws -> CloudRequest
  }

  static let asks: [Ask] = [
    Ask(testDescription: "share", caller: \.phone, scope: .private) { world in
      .modifyRecords(
        ModifyRecords(save: [
          world.share("T", of: "r5", [world.guest("bob")]), try world.edit("r5"),
        ]))
    },
    Ask(testDescription: "resolve", caller: \.stranger, scope: .private) { world in
      .resolveShares(ResolveShares(urls: [try world.url("U")], rootFields: .all))
    },
    Ask(testDescription: "join a second share", caller: \.stranger, scope: .shared) { world in
      .acceptShares([try world.url("U")])
    },
    Ask(testDescription: "the owner changes", caller: \.phone, scope: .private) { world in
      .modifyRecords(ModifyRecords(save: [try world.edit("kid")]))
    },
    Ask(testDescription: "the visitor changes", caller: \.stranger, scope: .shared) { world in
      .modifyRecords(
        ModifyRecords(
          save: [
            fresh("kid", zone: world.visited), fresh("new", parent: "kid", zone: world.visited),
          ], policy: .changedKeys))
    },
    Ask(testDescription: "the visitor reads", caller: \.stranger, scope: .shared) { world in
      .fetchRecords(FetchRecords(ids: [id("kid", world.visited), id("r3", world.visited)]))
    },
    Ask(testDescription: "the visitor's zones", caller: \.stranger, scope: .shared) { _ in
      .fetchDatabaseChanges(FetchDatabaseChanges(since: nil))
    },
    Ask(testDescription: "leave", caller: \.stranger, scope: .shared) { world in
      .modifyRecords(ModifyRecords(delete: [id("S", world.visited)]))
    },
    Ask(testDescription: "revoke", caller: \.phone, scope: .private) { world in
      .modifyRecords(
        ModifyRecords(save: [try world.reshare { $0.participants.removeLast() }]))
    },
    Ask(testDescription: "stop", caller: \.phone, scope: .private) { _ in
      .modifyRecords(ModifyRecords(delete: [id("S")]))
    },
    Ask(testDescription: "delete the zone", caller: \.phone, scope: .private) { _ in
      .modifyZones(ModifyZones(delete: [World.zone]))
    },
  ]

  private func world(records: Int) throws -> World {
    let world = try World()
    for start in stride(from: 0, to: records, by: 200) {
      _ = try world.modify((start..<min(records, start + 200)).map { fresh("r\($0)") })
    }
    _ = try world.modify([
      fresh("root"), fresh("kid", parent: "root"), world.share(of: "root", [world.guest("bob")]),
      fresh("other"), world.share("U", of: "other", [world.guest("bob")]),
    ])
    guard try world.accept(as: world.stranger) == "ok" else { throw Unexpected() }
    return world
  }

  private func answer(
    _ ask: Ask, _ request: CloudRequest, _ world: World, _ storage: WatchedStorage
  ) throws -> CloudAnswer {
    let call = CloudCall(
      container: World.container, database: ask.scope, requestID: "watched", request: request)
    return try world.machine.answer(
      call, from: ask.caller(world), now: world.now, in: storage)
  }

  @Test("A request reads as many rows from 2,000 records as from 20", arguments: asks)
  func requestCostIsIndependentOfRecordCount(_ ask: Ask) throws {
    let counts = try [20, 2000].map { records in
      let world = try world(records: records)
      let request = try ask.request(world)
      let storage = WatchedStorage(world.storage)
      let answer = try answer(ask, request, world, storage)
      #expect(!answer.result.words.contains("!") && storage.lateReads == 0)
      return [storage.calls, storage.rows]
    }
    #expect(counts[0] == counts[1])
    #expect(counts[1][1] <= 40)
  }

  /// Proves PB-7.
  @Test("A failure of any call to the storage changes no database", arguments: asks)
  func storageFailureChangesNoDatabase(_ ask: Ask) throws {
    let world = try world(records: 20)
    let request = try ask.request(world)
    let storage = WatchedStorage(world.storage)
    let expected = try answer(ask, request, world, WatchedStorage(world.storage.snapshot()))
    let before = try contents(world)
    var failing = 1
    while true {
      storage.reset(failingCall: failing)
      do {
        let found = try answer(ask, request, world, storage)
        #expect(found == expected)
        break
      } catch is WatchedStorage.Failure {
        #expect(try contents(world) == before, "call \(failing)")
        failing += 1
      }
    }
    #expect(failing > 1)
  }

  private func contents(_ world: World) throws -> [String] {
    let visits = DatabaseID(
      container: World.container, environment: .development, scope: .shared, owner: world.bob)
    let storage = world.storage
    return try [world.database, visits].flatMap { database in
      [
        "\(String(describing: try storage.database(database)))",
        "\(try storage.zones(in: database))",
        "\(try storage.recordChanges(of: World.zone, in: database, after: 0, limit: .max))",
      ]
    }
  }
}
