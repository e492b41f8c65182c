#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("PostgreSQL: round trips")
  struct PostgreSQLRoundTripTests {
    /// What a request took, and its reply.
    private struct Trips {
      var count: Int
      var misses: Int
      /// The slices that a query examined.
      var slices = 0
      var reply: CloudReply
    }

    /// A storage whose requests a machine answers, as the server does for a user that it knows.
    private struct World {
      let database: TemporaryDatabase
      let storage: PostgreSQLStorage
      let machine = CloudMachine()
      let user: UserID
      let guest: UserID
      let zone = ZoneID(name: "notes")

      init() throws {
        let database = try TemporaryDatabase()
        let storage = try PostgreSQLStorage(database.address, identity: 1)
        let machine = machine
        user = try storage.transaction { try machine.createAccount("alice", in: storage).user }
        guest = try storage.transaction { try machine.createAccount("bob", in: storage).user }
        self.database = database
        self.storage = storage
        _ = try trips(.modifyZones(ModifyZones(save: [zone])))
      }

      /// The round trips of a request, and its reply.
      func trips(
        _ request: CloudRequest, _ scope: DatabaseScope = .private, by name: String = "alice"
      ) throws -> Trips {
        let user = name == "alice" ? user : guest
        let (before, missed) = (storage.roundTrips, storage.misses)
        let call = CloudCall(
          container: "c", database: scope, requestID: "\(before)", request: request)
        let answer = try repeating {
          try machine.foresee(call, account: name, user: user, device: "phone", in: storage)
          _ = try storage.account(named: name)
          return try machine.begin(
            call, from: Caller(user: user, device: "phone", availability: .available),
            now: Timestamp(secondsSinceReferenceDate: Double(before)), in: storage)
        }
        switch answer {
        case .answered(let answered):
          return Trips(
            count: storage.roundTrips - before, misses: storage.misses - missed,
            reply: try answered.result.get())
        case .querying(var scan):
          var slices = 1
          while true {
            scan.examine()
            if let result = scan.result {
              return Trips(
                count: storage.roundTrips - before, misses: storage.misses - missed,
                slices: slices, reply: try result.get())
            }
            slices += 1
            try storage.transaction {
              try storage.foresee { scan.plan }
              try scan.read(from: storage)
            }
          }
        }
      }

      /// Runs a transaction as the server does: again, as long as it ends with a conflict.
      private func repeating<Value>(_ body: () throws -> Value) throws -> Value {
        for _ in 1..<10 {
          do { return try storage.transaction(body) } catch is TransactionConflict {}
        }
        return try storage.transaction(body)
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
      // At first without reading the records: two trips, and one for the rollback.
      _ = try check(world.save(names), 5)
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
      _ = try check(.modifyZones(ModifyZones(delete: [world.zone])), 3)
    }

    private func expect(
      _ trips: Trips, _ count: Int, line: Int = #line
    ) {
      #expect(
        trips.count == count && trips.misses == 0, "line \(line): \(trips.count), \(trips.misses)")
    }

    @Test("A list of all zones makes at most three round trips for any number of zones")
    func listOfZonesMakesFewRoundTrips() throws {
      let world = try World()
      for count in [1, 6] {
        let zones = (1..<count).map { ZoneID(name: "z\($0)") }
        _ = try world.trips(.modifyZones(ModifyZones(save: zones)))
        let trips = try world.trips(.fetchZones(nil))
        #expect(trips.count <= 3, "\(trips)")
        guard case .zones(let found) = trips.reply else { throw TestFailure() }
        #expect(found.count == count + 1)
      }
    }

    @Test("A cascade makes one round trip more for each level")
    func cascadeMakesOneRoundTripForEachLevel() throws {
      let world = try World()
      func record(_ name: String, _ owner: String?) -> RecordSave {
        var record = Record(id: RecordID(name: name, zone: world.zone), type: "Note")
        if let owner {
          let target = RecordID(name: owner, zone: world.zone)
          record.fields["owner"] = Field(.reference(Reference(target: target, action: .deleteSelf)))
        }
        return RecordSave(record)
      }
      let children = (1...200).map { record("b\($0)", "a") }
      _ = try world.trips(.modifyRecords(ModifyRecords(save: [record("a", nil)] + children)))
      let deeper = [record("c1", "b1"), record("c2", "b2"), record("d", "c1")]
      _ = try world.trips(.modifyRecords(ModifyRecords(save: deeper)))
      func delete(_ name: String) throws -> Trips {
        try world.trips(
          .modifyRecords(ModifyRecords(delete: [RecordID(name: name, zone: world.zone)])))
      }
      expect(try delete("c2"), 2)
      expect(try delete("b200"), 2)
      // Its children, theirs and the last level.
      expect(try delete("a"), 5)
    }

    @Test("A save in a shared zone makes three round trips, by the owner and by a participant")
    func sharedZoneMakesThreeRoundTrips() throws {
      let world = try World()
      _ = try world.trips(world.save(["first"]))
      let share = RecordSave(
        id: RecordID(name: ShareDetails.zoneWideName, zone: world.zone), type: "cloudkit.share",
        changeTag: nil, changes: [],
        sharing: ShareDetails(root: nil, publicPermission: .readWrite, participants: []))
      let saved = try world.trips(.modifyRecords(ModifyRecords(save: [share]))).reply
      guard case .recordsModified(let results, _) = saved,
        let url = results.first?.value?.sharing?.url
      else { throw TestFailure() }
      _ = try world.trips(.acceptShares([url]), .shared, by: "bob")
      expect(try world.trips(world.save((1...400).map { "n\($0)" })), 3)
      expect(try world.trips(world.save(["one"])), 3)
      let visited = ZoneID(name: world.zone.name, owner: world.user.rawValue)
      let request = CloudRequest.modifyRecords(
        ModifyRecords(save: [
          RecordSave(Record(id: RecordID(name: "guest", zone: visited), type: "Note"))
        ]))
      let visit = try world.trips(request, .shared, by: "bob")
      expect(visit, 3)
      guard case .recordsModified(let guests, _) = visit.reply else { throw TestFailure() }
      #expect(guests.count == 1 && guests.allSatisfy { $0.error == nil }, "\(guests)")
    }

    @Test("A page of a query makes one round trip; with a filter, one for each slice that it reads")
    func queryMakesOneRoundTrip() throws {
      let world = try World()
      _ = try world.trips(world.save((1...300).map { "n\($0)" }))
      var request = QueryRecords(query: Query(recordType: "Note"), zone: world.zone, limit: 200)
      func check(_ trips: Int, _ records: Int, line: Int = #line) throws {
        let found = try world.trips(.queryRecords(request))
        expect(found, trips, line: line)
        guard case .queried(let page) = found.reply else { throw TestFailure() }
        #expect(page.records.count == records, "line \(line)")
        request.cursor = page.cursor
      }
      try check(1, 200)
      try check(1, 100)
      #expect(request.cursor == nil)
      request.limit = 1
      try check(1, 1)
      request.cursor = nil
      request.query.filters = [
        Query.Filter(key: "text", comparator: .equals, value: .string("n300"))
      ]
      let filtered = try world.trips(.queryRecords(request))
      expect(filtered, filtered.slices)
      #expect(filtered.slices > 300 / 64)
    }
  }
#endif
