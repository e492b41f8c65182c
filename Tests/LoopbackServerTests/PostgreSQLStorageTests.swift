#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import CloudSyncTesting
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("PostgreSQL")
  struct PostgreSQLStorageTests {
    /// Proves S3.
    @Test(
      "The storage in PostgreSQL passes the checks of every storage", arguments: StorageCheck.all)
    func storagePassesChecks(_ check: StorageCheck) throws {
      let suite = StorageConformance("PostgreSQL", lifetime: .shared) {
        let database = try TemporaryDatabase()
        return { identity in try PostgreSQLStorage(database.address, identity: identity) }
      }
      try suite.run(check)
    }

    /// A server on a database, and a device that saves records there.
    private struct World {
      let database: TemporaryDatabase
      let server: LoopbackServer
      let phone: LoopbackDevice
      let zone = ZoneID(name: "notes")

      init() async throws {
        database = try TemporaryDatabase()
        server = try LoopbackServer(postgreSQL: database.address)
        phone = server.device("phone", signedInAs: "alice")
        _ = try await send("zone", .modifyZones(ModifyZones(save: [zone])))
      }

      @discardableResult
      func send(_ id: String, _ request: CloudRequest) async throws -> CloudReply {
        try await phone.send(
          CloudCall(container: "c", database: .private, requestID: id, request: request))
      }

      func save(_ name: String, as id: String) async throws {
        let record = Record(id: RecordID(name: name, zone: zone), type: "Note")
        try await send(id, .modifyRecords(ModifyRecords(save: [RecordSave(record)])))
      }

      var names: [String] {
        get throws { try server.records(in: zone, container: "c", account: "alice").map(\.id.name) }
      }
    }

    @Test("A lost connection is made again, and the request is run again")
    func lostConnectionIsMadeAgain() async throws {
      let world = try await World()
      try await world.save("a", as: "1")
      for name in ["b", "c"] {
        try world.database.execute([
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """
        ])
        try await world.save(name, as: name)
      }
      #expect(try world.names == ["a", "b", "c"])
      world.server.close()
      #expect(world.database.otherConnections == [])
    }

    @Test(
      "A connection lost at the commit leaves the outcome unknown, and the same request decides it")
    func connectionLostAtCommitIsUnknown() async throws {
      let world = try await World()
      try await world.save("a", as: "1")
      try world.database.execute([
        """
        CREATE FUNCTION cloudsync.die() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'
        """,
        """
        CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON cloudsync.records
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cloudsync.die()
        """,
      ])
      let error = await #expect(throws: CloudError.self) { try await world.save("b", as: "2") }
      #expect(error?.code == .serviceUnavailable && error?.retryAfter != nil)
      #expect(error?.message.contains("unknown") == true, "\(error?.message ?? "")")
      #expect(try world.names == ["a"])
      try world.database.execute(["DROP TRIGGER dies ON cloudsync.records"])
      try await world.save("b", as: "2")
      try await world.save("b", as: "2")
      #expect(try world.names == ["a", "b"])
      world.server.close()
      #expect(world.database.otherConnections == [])
    }

    @Test("Large transactions are sent in parts, and undone as a whole")
    func largeTransactionIsUndoneAsWhole() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, identity: 1)
      let zone = ZoneID(name: "z")
      let home = DatabaseID(
        container: "c", environment: .development, scope: .private, owner: UserID("_a"))
      func put(_ range: Range<Int>) throws {
        for number in range {
          let id = RecordID(name: "n\(number)", zone: zone)
          let row = RecordRow(
            id: id, type: "T", record: Record(id: id, type: "T"), changedAt: UInt64(number + 1),
            device: nil)
          try storage.commit([.putRecord(row, in: home)])
        }
      }
      try storage.transaction { try put(0..<12_001) }
      #expect(try storage.recordCount(of: zone, in: home, upTo: 20_000) == 12_001)
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try storage.transaction {
          try put(20_000..<26_000)
          throw Stop()
        }
      }
      #expect(try storage.recordCount(of: zone, in: home, upTo: 20_000) == 12_001)
      try storage.close()
    }
  }
#endif
