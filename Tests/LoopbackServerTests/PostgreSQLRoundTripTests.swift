#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("PostgreSQL: round trips")
  struct PostgreSQLRoundTripTests {
    /// A storage whose requests a machine answers, as the server does for a user that it knows.
    private struct World {
      let database: TemporaryDatabase
      let storage: PostgreSQLStorage
      let machine = CloudMachine()
      let user: UserID
      let zone = ZoneID(name: "notes")

      init() throws {
        let database = try TemporaryDatabase()
        let storage = try PostgreSQLStorage(database.address, identity: 1)
        let machine = machine
        user = try storage.transaction { try machine.createAccount("alice", in: storage).user }
        self.database = database
        self.storage = storage
        _ = try trips(.modifyZones(ModifyZones(save: [zone])))
      }

      /// The round trips of a request, and its reply.
      func trips(
        _ request: CloudRequest, _ scope: DatabaseScope = .private
      ) throws -> (count: Int, misses: Int, reply: CloudReply) {
        let (before, missed) = (storage.roundTrips, storage.misses)
        let call = CloudCall(
          container: "c", database: scope, requestID: "\(before)", request: request)
        let answer = try storage.transaction {
          try machine.foresee(call, account: "alice", user: user, device: "phone", in: storage)
          _ = try storage.account(named: "alice")
          return try machine.begin(
            call, from: Caller(user: user, device: "phone", availability: .available),
            now: Timestamp(secondsSinceReferenceDate: Double(before)), in: storage)
        }
        guard case .answered(let answered) = answer else { throw TestFailure() }
        return (storage.roundTrips - before, storage.misses - missed, try answered.result.get())
      }

      func save(_ names: some Sequence<String>) -> CloudRequest {
        .modifyRecords(
          ModifyRecords(
            save: names.map { name in
              RecordSave(
                Record(
                  id: RecordID(name: name, zone: zone), type: "Note",
                  fields: ["text": .string(name)]))
            }))
      }
    }

    private struct TestFailure: Error {}

    @Test("A save makes two round trips, of one record and of 400; a read makes one")
    func requestsMakeFewRoundTrips() throws {
      let world = try World()
      let names = (1...400).map { "n\($0)" }
      func check(_ request: CloudRequest, _ count: Int, line: Int = #line) throws -> CloudReply {
        let trips = try world.trips(request)
        #expect(trips.count == count && trips.misses == 0, "line \(line): \(trips)")
        return trips.reply
      }
      // One more locks the record type, which is new.
      _ = try check(world.save(["first"]), 3)
      _ = try check(world.save(names), 2)
      _ = try check(world.save(["n1"]), 2)
      let ids = names.map { RecordID(name: $0, zone: world.zone) }
      _ = try check(.modifyRecords(ModifyRecords(delete: Array(ids.prefix(200)))), 2)
      guard case .records(let found) = try check(.fetchRecords(FetchRecords(ids: ids)), 1) else {
        throw TestFailure()
      }
      #expect(found.count == 400)
      let first = try check(
        .fetchZoneChanges(FetchZoneChanges(zone: world.zone, since: nil, limit: 100)), 1)
      guard case .zoneChanges(let page) = first else { throw TestFailure() }
      #expect(page.modified.count == 100 && page.moreComing)
      let next = FetchZoneChanges(zone: world.zone, since: page.token, limit: 100)
      guard case .zoneChanges(let last) = try check(.fetchZoneChanges(next), 1) else {
        throw TestFailure()
      }
      #expect(last.modified.count == 100 || !last.moreComing)
      _ = try check(.fetchDatabaseChanges(FetchDatabaseChanges(since: nil)), 1)
    }
  }
#endif
