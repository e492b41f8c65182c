#if PostgreSQL
  import CloudProtocol
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("PostgreSQL: databases that can't be used, and failures of the database")
  struct PostgreSQLRefusalTests {
    /// A database, a role that does not own it, and the cause of a failure.
    struct Case: CustomTestStringConvertible, Sendable {
      let testDescription: String
      /// Statements before the server is opened; `ROLE` and `DATABASE` are replaced.
      var preparation: [String] = []
      /// Makes the connection string of the server.
      var address: @Sendable (_ address: String, _ role: String) -> String = { address, _ in
        address
      }
      /// Words of the error.
      let words: [String]
    }

    /// A new database, with a role of its own.
    private struct Place {
      let database: TemporaryDatabase
      let name: String
      let role: String

      init() throws {
        database = try TemporaryDatabase()
        name = database.address.firstMatch(of: /test_[0-9a-f]+/).map { String($0.output) } ?? ""
        role = "role_" + name.dropFirst(5)
        try database.execute(["CREATE ROLE \(role) LOGIN"])
      }

      func execute(_ statements: [String]) throws {
        try database.execute(
          statements.map {
            $0.replacing("ROLE", with: role).replacing("DATABASE", with: "DATABASE \(name)")
          })
      }

      /// The connection string for the role.
      var address: String { Self.address(database.address, role) }

      static func address(_ address: String, _ role: String) -> String {
        address.replacing("user=cloudsync", with: "user=\(role)")
      }

      func remove() throws {
        try database.execute(["DROP OWNED BY \(role) CASCADE"])
        try database.execute([
          "ALTER DATABASE \(name) OWNER TO cloudsync", "DROP OWNED BY \(role) CASCADE",
          "DROP ROLE \(role)",
        ])
      }
    }

    static let unusable: [Case] = [
      Case(
        testDescription: "no server at the address",
        address: { _, _ in "postgresql://user:secret@127.0.0.1:1/x" }, words: ["refused"]),
      Case(
        testDescription: "an option that does not exist",
        address: { address, _ in address + "&colour=red" }, words: ["colour"]),
      Case(
        testDescription: "a text that is no connection string",
        address: { _, _ in "postgresql://[::1/x" }, words: ["]"]),
      Case(
        testDescription: "a database that does not exist",
        address: { address, _ in address.replacing("/test_", with: "/none_") },
        words: ["does not exist"]),
      Case(
        testDescription: "a role that does not exist",
        address: { address, role in Place.address(address, "no_" + role) },
        words: ["role", "does not exist"]),
      Case(
        testDescription: "a role that may not create a schema", address: Place.address,
        words: ["permission denied", "CREATE"]),
      Case(
        testDescription: "a role that may not use the schema",
        preparation: ["CREATE SCHEMA cloudsync", "CREATE TABLE cloudsync.layout (version bigint)"],
        address: Place.address, words: ["permission denied"]),
      Case(
        testDescription: "the schema of another program",
        preparation: ["CREATE SCHEMA cloudsync", "CREATE TABLE cloudsync.things (x bigint)"],
        words: ["another program"]),
      Case(
        testDescription: "a table called layout with other columns",
        preparation: ["CREATE SCHEMA cloudsync", "CREATE TABLE cloudsync.layout (x bigint)"],
        words: ["another program"]),
      Case(
        testDescription: "the schema of a newer version",
        preparation: [
          "CREATE SCHEMA cloudsync", "CREATE TABLE cloudsync.layout (version bigint)",
          "INSERT INTO cloudsync.layout VALUES (99)",
        ], words: ["newer version", "99"]),
      Case(
        testDescription: "a database that only reads",
        address: { address, _ in address + "&options=-c%20default_transaction_read_only%3Don" },
        words: ["read-only"]),
    ]

    @Test(
      "A database that can't be used is refused with the reason, and left as it is",
      arguments: unusable)
    func unusableDatabaseIsRefused(_ one: Case) throws {
      let place = try Place()
      try place.execute(one.preparation)
      let before = try place.database.tables
      let error = #expect(throws: PostgreSQLStorageError.self) {
        try PostgreSQLStorage(one.address(place.database.address, place.role))
      }
      let message = error?.message ?? ""
      for word in one.words { #expect(message.contains(word), "\(message)") }
      #expect(!message.contains("secret"))
      #expect(try place.database.tables == before)
      #expect(place.database.otherConnections == [])
      try place.remove()
    }

    /// A failure of the database while the server runs.
    struct Failure: CustomTestStringConvertible, Sendable {
      let testDescription: String
      let cause: [String]
      let cure: [String]
      let code: CloudError.Code
      let words: [String]
    }

    private static func failing(_ state: String, _ message: String) -> [String] {
      [
        """
        CREATE FUNCTION cloudsync.fail() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''\(message)'' USING ERRCODE = ''\(state)''; END'
        """,
        """
        CREATE TRIGGER fails AFTER INSERT ON cloudsync.receipts
        FOR EACH ROW EXECUTE FUNCTION cloudsync.fail()
        """,
      ]
    }

    static let failures: [Failure] = [
      Failure(
        testDescription: "a full disk",
        cause: failing("53100", "could not extend file: No space left on device"),
        cure: ["DROP TRIGGER fails ON cloudsync.receipts"], code: .serviceUnavailable,
        words: ["No space left on device", "53100"]),
      Failure(
        testDescription: "rights that were lost",
        cause: ["REVOKE INSERT ON cloudsync.receipts FROM ROLE"],
        cure: ["GRANT INSERT ON cloudsync.receipts TO ROLE"], code: .internalError,
        words: ["permission denied", "receipts"]),
      Failure(
        testDescription: "a table that is gone",
        cause: ["ALTER TABLE cloudsync.receipts RENAME TO gone"],
        cure: ["ALTER TABLE cloudsync.gone RENAME TO receipts"], code: .internalError,
        words: ["receipts", "does not exist"]),
    ]

    @Test(
      "A request that the database fails changes nothing, and succeeds later", arguments: failures)
    func failedRequestChangesNothing(_ failure: Failure) async throws {
      let place = try Place()
      try place.execute(["ALTER DATABASE OWNER TO ROLE"])
      let server = try LoopbackServer(postgreSQL: place.address)
      let phone = server.device("phone", signedInAs: "alice")
      let zone = ZoneID(name: "notes")
      func send(_ id: String, _ request: CloudRequest) async throws {
        _ = try await phone.send(
          CloudCall(container: "c", database: .private, requestID: id, request: request))
      }
      func save(_ name: String) async throws {
        let record = Record(id: RecordID(name: name, zone: zone), type: "Note")
        try await send(name, .modifyRecords(ModifyRecords(save: [RecordSave(record)])))
      }
      func names() throws -> [String] {
        try server.records(in: zone, container: "c", account: "alice").map(\.id.name)
      }
      try await send("zone", .modifyZones(ModifyZones(save: [zone])))
      try await save("a")
      try place.execute(failure.cause)
      let error = await #expect(throws: CloudError.self) { try await save("b") }
      #expect(error?.code == failure.code)
      for word in failure.words {
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
      }
      #expect(try names() == ["a"])
      try place.execute(failure.cure)
      try await save("b")
      #expect(try names() == ["a", "b"])
      server.close()
      #expect(place.database.otherConnections == [])
      try place.remove()
    }
  }

  extension TemporaryDatabase {
    /// The names of the tables in all schemas besides those of the system.
    fileprivate var tables: [String] {
      get throws {
        try rows(
          """
          SELECT nspname || '.' || relname FROM pg_class JOIN pg_namespace
            ON relnamespace = pg_namespace.oid
          WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1
          """)
      }
    }
  }
#endif
