#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import Foundation
  import PostgreSQL
  import Records
  import Synchronization
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  /// Faults that the soak of several servers found, each by itself.
  @Suite("PostgreSQL: faults")
  struct PostgreSQLFaultTests {
    private static let zone = ZoneID(name: "notes")

    private func save(_ name: String, by device: LoopbackDevice) async throws {
      let record = Record(id: RecordID(name: name, zone: Self.zone), type: "Note")
      _ = try await device.send(
        CloudCall(
          container: "c", database: .private, requestID: name,
          request: .modifyRecords(ModifyRecords(save: [RecordSave(record)]))))
    }

    private func phone(on server: LoopbackServer) async throws -> LoopbackDevice {
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await phone.send(
        CloudCall(
          container: "c", database: .private, requestID: "zone",
          request: .modifyZones(ModifyZones(save: [Self.zone]))))
      return phone
    }

    @Test("A host that closes the connection at once is passed over for the next one")
    func closingHostIsPassedOver() throws {
      let database = try TemporaryDatabase()
      let (socket, port) = try LocalSocket.listener(backlog: 8)
      let listener = Mutex(socket)
      // One connection of the first address, two of the second.
      Thread.detachNewThread {
        for _ in 0..<3 { try? listener.withLock { try $0.nextConnection().end() } }
      }
      func address(_ hosts: (String) -> String, _ ports: String) -> String {
        database.address.replacing(/host=([^&]*)/) { match in
          "sslmode=disable&gssencmode=disable&host=\(hosts(String(match.output.1)))&port=\(ports)"
        }
      }
      let connection = try PostgreSQLConnection(
        address({ "127.0.0.1,\($0)" }, "\(port),5432"), patience: .seconds(60))
      let found = try connection.run([PostgreSQLStatement("SELECT 'found'")])[0].first {
        try $0.text(0)
      }
      #expect(found == "found")
      connection.close()
      let error = #expect(throws: PostgreSQLError.self) {
        _ = try PostgreSQLConnection(
          address({ _ in "127.0.0.1,localhost" }, "\(port)"), patience: .seconds(60))
      }
      // The message has the failure of each host.
      #expect(
        error?.message.matches(of: /closed the connection/).count == 2, "\(error.debugDescription)")
    }

    @Test("A connection that stops in the middle of an exchange does not keep its locks")
    func stoppedConnectionLosesItsLocks() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(
        postgreSQL: database.address, connections: 1, notifies: true, patience: .seconds(1))
      let phone = try await phone(on: server)
      // As for requests over HTTP, the first exchange of the save locks the database.
      _ = try server.user(of: "alice")
      let stopped = try StoppedClient(
        of: database, running: ["BEGIN", "SELECT body FROM cloudsync.databases FOR UPDATE"])
      var refusals = 0
      while refusals < 50 {
        do {
          try await save("a", by: phone)
          break
        } catch let error as CloudError {
          #expect(error.code == .serviceUnavailable && error.retryAfter != nil)
          refusals += 1
        }
      }
      #expect((1..<50).contains(refusals))
      stopped.end()
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("An answer from a receipt whose commit is not confirmed is unknown, as the first one was")
    func unconfirmedReceiptIsUnknown() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address)
      let phone = try await phone(on: server)
      try await save("a", by: phone)
      // Each transaction that locks a database commits with a warning, as without a standby.
      try database.execute([
        "CREATE TABLE cloudsync.marks (number bigint)",
        """
        CREATE FUNCTION cloudsync.mark() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO cloudsync.marks VALUES (1); RETURN NEW; END'
        """,
        """
        CREATE FUNCTION cloudsync.warn() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE WARNING ''not replicated''; RETURN NULL; END'
        """,
        """
        CREATE TRIGGER marks BEFORE INSERT ON cloudsync.databases
        FOR EACH ROW EXECUTE FUNCTION cloudsync.mark()
        """,
        """
        CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON cloudsync.marks
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cloudsync.warn()
        """,
      ])
      for name in ["b", "b", "a"] {
        let error = await #expect(throws: CloudError.self) { try await save(name, by: phone) }
        #expect(error?.code == .serviceUnavailable && error?.retryAfter != nil)
        #expect(error?.message.contains("unknown") == true, "\(error?.message ?? "")")
      }
      try database.execute(["DROP TRIGGER marks ON cloudsync.databases"])
      for name in ["b", "a"] { try await save(name, by: phone) }
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("The name of an account is found after all connections were lost")
    func accountIsFoundAfterLostConnections() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, connections: 1)
      }
      let user = try servers[0].user(of: "alice")
      #expect(try servers[1].user(of: "bob") != user)
      try database.execute([
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """
      ])
      #expect(try servers[1].user(of: "alice") == user)
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A transaction whose client went silent is ended by the database, with its locks")
    func silentTransactionIsEnded() throws {
      let database = try TemporaryDatabase()
      let silent = try PostgreSQLConnection(database.address, patience: .milliseconds(200))
      try silent.execute([
        "CREATE TABLE counts (number bigint)", "INSERT INTO counts VALUES (1)",
      ])
      try silent.execute(["BEGIN", "UPDATE counts SET number = 2"])
      let other = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try other.execute(["UPDATE counts SET number = number + 10"])
      let number = try other.run([PostgreSQLStatement("SELECT number FROM counts")])[0]
        .first { try $0.integer(0) }
      #expect(number == 11)
      let error = #expect(throws: PostgreSQLError.self) { try silent.execute(["COMMIT"]) }
      #expect(error?.isConnectionLost == true)
      #expect(silent.isClosed)
    }

    @Test("A commit that the database turns into a rollback is no success")
    func commitOfFailedTransactionFails() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address)
      let account = AccountRow(name: "alice", user: UserID("_a"))
      #expect(throws: (any Error).self) {
        try storage.transaction {
          try storage.commit([.putAccount(account)])
          // The change is sent with the next read; one that fails then fails the transaction.
          _ = try storage.account(named: "bob")
          _ = try? storage.read("SELECT nothing FROM nowhere", [])
        }
      }
      #expect(try storage.account(named: "alice") == nil)
      try storage.close()
    }
  }

  /// A client that sends statements, and then nothing more, not even the end of the exchange.
  private struct StoppedClient {
    private let socket: LocalSocket

    init(of database: TemporaryDatabase, running statements: [String]) throws {
      let parts = try #require(
        database.address.firstMatch(of: /\/(test_\w+)\?host=([^&]+)&user=(\w+)/))
      socket = try LocalSocket(path: "\(parts.output.2)/.s.PGSQL.5432")
      var start: [UInt8] = [0, 3, 0, 0]
      for text in [
        "user", parts.output.3, "database", parts.output.1, "application_name", "cloudsync", "",
      ] { start += Array(text.utf8) + [0] }
      try #require(socket.writeAll(Self.length(of: start) + start))
      var answer: [UInt8] = []
      // The last message says that the server is ready.
      while !answer.suffix(6).elementsEqual([UInt8(ascii: "Z"), 0, 0, 0, 5, UInt8(ascii: "I")]) {
        try #require(socket.wait(writing: false, milliseconds: 10_000))
        _ = socket.read(into: &answer)
      }
      for statement in statements {
        send("P", [0] + Array(statement.utf8) + [0, 0, 0])
        send("B", [0, 0, 0, 0, 0, 0, 0, 0])
        send("E", [0, 0, 0, 0, 0])
      }
      // The server sends what it has; after the last statement that is its end.
      send("H", [])
      while !String(decoding: answer, as: UTF8.self).contains("SELECT ") {
        try #require(socket.wait(writing: false, milliseconds: 10_000))
        _ = socket.read(into: &answer)
      }
    }

    private func send(_ type: Character, _ content: [UInt8]) {
      _ = socket.writeAll(Array(String(type).utf8) + Self.length(of: content) + content)
    }

    private static func length(of content: [UInt8]) -> [UInt8] {
      withUnsafeBytes(of: UInt32(content.count + 4).bigEndian) { Array($0) }
    }

    func end() { socket.end() }
  }
#endif
