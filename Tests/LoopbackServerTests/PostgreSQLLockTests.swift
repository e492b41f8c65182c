#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records
  import Synchronization
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  /// Which rows a transaction locks, and how long the database may take for it.
  @Suite("PostgreSQL: locks")
  struct PostgreSQLLockTests {
    private static let zone = ZoneID(name: "notes")

    private func send(
      _ id: String, _ request: CloudRequest, _ scope: DatabaseScope = .private,
      by device: LoopbackDevice
    ) async throws -> CloudReply {
      try await device.send(
        CloudCall(container: "c", database: scope, requestID: id, request: request))
    }

    /// Makes a zone of an owner that everyone with its URL may join; returns the URL.
    private func share(_ owner: String, on server: LoopbackServer) async throws -> String {
      let device = server.device("device of \(owner)", signedInAs: owner)
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: device)
      var share = Record(
        id: RecordID(name: ShareDetails.zoneWideName, zone: Self.zone),
        type: ShareDetails.recordType)
      share.sharing = ShareDetails(root: nil, publicPermission: .readWrite)
      let reply = try await send(
        "share", .modifyRecords(ModifyRecords(save: [RecordSave(share)])), by: device)
      guard case .recordsModified(let saved, _) = reply else { return "" }
      return try #require(saved.first?.value?.sharing?.url)
    }

    private func zones(of device: LoopbackDevice) async throws -> [ZoneID] {
      guard case .zones(let zones) = try await send("zones", .fetchZones(nil), .shared, by: device)
      else { return [] }
      return zones.map(\.id)
    }

    @Test("Shares of many owners are accepted and left in one request, and by an erasure")
    func sharesOfManyOwners() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      var urls: [String] = []
      for number in 0..<12 { urls.append(try await share("owner \(number)", on: server)) }
      let bob = server.device("phone", signedInAs: "bob")
      for round in ["leave", "erase"] {
        guard
          case .sharesAccepted(let accepted) = try await send(
            "accept to \(round)", .acceptShares(urls), .shared, by: bob)
        else { throw Unexpected() }
        #expect(accepted.allSatisfy { $0.error == nil })
        let zones = try await zones(of: bob)
        #expect(zones.count == 12)
        if round == "leave" {
          _ = try await send("leave", .modifyZones(ModifyZones(delete: zones)), .shared, by: bob)
        } else {
          try server.controls.eraseData(of: "bob", container: "c")
        }
        #expect(try await self.zones(of: bob).isEmpty)
      }
      // Each of these locks all databases before it reads from them.
      #expect(server.storageUse.conflicts == 0, "\(server.storageUse)")
      server.close()
      #expect(database.otherConnections == [])
    }

    private struct Unexpected: Error {}

    @Test("A transaction that is given up leaves no locks to the next one")
    func givenUpTransactionLeavesNothing() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address)
      let home = DatabaseID(
        container: "c", environment: .development, scope: .private, owner: UserID("_a"))
      func readBeforeLock() throws {
        try storage.transaction {
          _ = try storage.zone(Self.zone, in: home)
          _ = try storage.database(home)
        }
      }
      #expect(throws: TransactionConflict.self) { try readBeforeLock() }
      try readBeforeLock()
      #expect(throws: TransactionConflict.self) { try readBeforeLock() }
      storage.endRuns()
      #expect(throws: TransactionConflict.self) { try readBeforeLock() }
      try storage.close()
      #expect(database.otherConnections == [])
    }

    /// Proves X7.
    @Test("A request that a receipt answers writes, so that its commit waits for the standby")
    func answerFromReceiptWrites() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let url = try await share("alice", on: server)
      let bob = server.device("phone", signedInAs: "bob")
      let upload = UploadAsset(recordType: "T", key: "file", content: [1, 2, 3])
      let requests: [CloudRequest] = [
        .acceptShares([url]), .uploadAsset(upload), .modifyZones(ModifyZones(save: [Self.zone])),
      ]
      for (number, request) in requests.enumerated() {
        _ = try await send("\(number)", request, by: bob)
      }
      server.close()
      let storage = try PostgreSQLStorage(database.address)
      let machine = CloudMachine()
      let user = try #require(try storage.account(named: "bob")?.user)
      for (number, request) in requests.enumerated() {
        let call = CloudCall(
          container: "c", database: .private, requestID: "\(number)", request: request)
        let writes = try storage.transaction {
          try machine.foresee(call, account: "bob", user: user, device: "phone", in: storage)
          _ = try machine.begin(
            call, from: Caller(user: user, device: "phone"),
            now: Timestamp(secondsSinceReferenceDate: 0), in: storage)
          return try storage.fetch(
            "SELECT pg_current_xact_id_if_assigned() IS NOT NULL", []
          ).first { try $0.bool(0) }
        }
        #expect(writes == true, "\(request)")
      }
      try storage.close()
      #expect(database.otherConnections == [])
    }

    @Test("A subscription that was saved again since it fired is not removed")
    func savedSubscriptionIsNotRemoved() throws {
      let database = try TemporaryDatabase()
      let storages = try (0..<2).map { _ in try PostgreSQLStorage(database.address) }
      let home = DatabaseID(
        container: "c", environment: .development, scope: .public, owner: UserID("_a"))
      func subscription(_ text: String) -> Subscription {
        Subscription(
          id: SubscriptionID("once"), kind: .database(recordType: nil),
          notificationInfo: .init(alertBody: text))
      }
      try storages[0].commit([.putSubscription(subscription("old"), in: home)])
      #expect(throws: TransactionConflict.self) {
        try storages[0].transaction {
          #expect(try storages[0].subscriptions(in: home) == [subscription("old")])
          try storages[1].commit([.putSubscription(subscription("new"), in: home)])
          try storages[0].commit([.removeSubscription(SubscriptionID("once"), in: home)])
        }
      }
      #expect(try storages[1].subscriptions(in: home) == [subscription("new")])
      try storages[0].transaction {
        #expect(try storages[0].subscriptions(in: home) == [subscription("new")])
        try storages[0].commit([.removeSubscription(SubscriptionID("once"), in: home)])
      }
      #expect(try storages[1].subscriptions(in: home) == [])
      for storage in storages { try storage.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A transaction that replaces everything may wait between two exchanges, and no other")
    func replacementMayIdle() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, patience: .seconds(20))
      func limit() throws -> String? {
        try storage.fetch(
          "SELECT current_setting('idle_in_transaction_session_timeout')", []
        ).first { try $0.text(0) }
      }
      let usual = try storage.transaction { try limit() }
      #expect(usual == "20s")
      try storage.transaction {
        var plan = ReadPlan()
        plan.access = .replacing
        try storage.foresee { plan }
        #expect(try limit() == "0")
        // Other servers do not end it as abandoned.
        let name = try storage.fetch("SELECT current_setting('application_name')", [])
        #expect(try name.first { try $0.text(0) } == "cloudsync import")
        try storage.commit([
          .removeEverything(identity: 7, secret: StorageSecret(first: 1, second: 2))
        ])
      }
      #expect(try limit() == "20s")
      try storage.close()
      #expect(database.otherConnections == [])
    }

    @Test("The records of a large zone are removed in several exchanges of one transaction")
    func largeZoneIsRemovedInParts() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address)
      let home = DatabaseID(
        container: "c", environment: .development, scope: .private, owner: UserID("_a"))
      func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      }
      func records() throws -> Int64? {
        try storage.fetch("SELECT count(*) FROM cloudsync.records", []).first { try $0.integer(0) }
      }
      try database.execute([
        """
        INSERT INTO cloudsync.records
        SELECT '\(hex(home.key))', '\(hex(Self.zone.place))', 'n' || number,
          '\(hex(Self.zone.feed))', number, true, 'T', '\\x00'
        FROM generate_series(1, 150000) AS number
        """
      ])
      var exchanges = 0
      storage.watch = { statements in
        if statements.contains(where: { $0.sql.hasPrefix("DELETE FROM cloudsync.records") }) {
          exchanges += 1
        }
      }
      struct Interruption: Error {}
      #expect(throws: Interruption.self) {
        try storage.transaction {
          try storage.commit([.removeRecords(of: Self.zone, in: home)])
          throw Interruption()
        }
      }
      #expect(try records() == 150_000)
      exchanges = 0
      try storage.commit([.removeRecords(of: Self.zone, in: home)])
      #expect(exchanges >= 2)
      #expect(try records() == 0)
      try storage.close()
      #expect(database.otherConnections == [])
    }

    @Test("A change without an account locks nothing and creates nothing")
    func anonymousChangeLeavesNothing() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let stranger = server.device("stranger", signedInAs: nil)
      let record = Record(id: RecordID(name: "a", zone: .default), type: "Note")
      for scope in [DatabaseScope.public, .private] {
        let error = await #expect(throws: CloudError.self) {
          try await send(
            "save", .modifyRecords(ModifyRecords(save: [RecordSave(record)])), scope, by: stranger)
        }
        #expect(error?.code == .notAuthenticated)
      }
      server.close()
      let storage = try PostgreSQLStorage(database.address)
      let rows = try storage.fetch("SELECT count(*) FROM cloudsync.databases", [])
      #expect(try rows.first { try $0.integer(0) } == 0)
      try storage.close()
    }

    @Test("An export may pause for any time")
    func exportMayPause() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address, patience: .seconds(20))
      try storage.transaction {
        var plan = ReadPlan()
        plan.access = .exporting
        try storage.foresee { plan }
        let limit = try storage.fetch(
          "SELECT current_setting('idle_in_transaction_session_timeout')", [])
        #expect(try limit.first { try $0.text(0) } == "0")
        #expect(throws: (any Error).self, "it changes nothing") {
          try storage.commit([.putAccount(AccountRow(name: "a", user: UserID("_a")))])
        }
      }
      try storage.close()
    }

    @Test("A request that names invented owners leaves no rows of them")
    func inventedOwnersLeaveNoRows() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let owners = ["_nobody", "_" + (0..<3_000).map { "\($0 * $0 % 7_919)" }.joined()]
      for owner in owners {
        let zone = ZoneID(name: "notes", owner: owner)
        let save = RecordSave(Record(id: RecordID(name: "a", zone: zone), type: "T"))
        let reply = try await send(
          "save \(owner.count)", .modifyRecords(ModifyRecords(save: [save])), .shared, by: phone)
        guard case .recordsModified(let saved, _) = reply else { throw Unexpected() }
        #expect(saved.first?.error?.code == .zoneNotFound, "\(owner.prefix(9))")
      }
      let invented = try database.rows(
        """
        SELECT owner FROM cloudsync.databases
        WHERE owner NOT IN (SELECT user_name FROM cloudsync.accounts)
        """)
      #expect(invented == [])
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("Requests that wait for the database of one account leave connections for others")
    func waitingAccountLeavesConnections() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(
        postgreSQL: database.address, connections: 4, notifies: false, patience: .seconds(600))
      let phones = (0..<8).map { server.device("phone \($0)", signedInAs: "alice") }
      let tablet = server.device("tablet", signedInAs: "bob")
      for device in [phones[0], tablet] {
        _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: device)
      }
      // No limit of time ends its transaction, however slow the other tests make this one.
      let other = try PostgreSQLConnection(database.address, patience: .seconds(3_600))
      let alice = try server.user(of: "alice").rawValue
      try other.execute([
        "BEGIN", "SELECT FROM cloudsync.databases WHERE owner = '\(alice)' FOR UPDATE",
      ])
      let answered = Signal()
      let record = Record(id: RecordID(name: "a", zone: Self.zone), type: "T")
      let save = CloudRequest.modifyRecords(ModifyRecords(save: [RecordSave(record)]))
      var saves: [Task<Void, any Error>] = []
      for phone in phones {
        saves.append(
          Task {
            _ = try await send("save", save, by: phone)
            answered.fire()
          })
      }
      for number in 0..<20 {
        _ = try await send("fetch \(number)", .fetchZones(nil), by: tablet)
      }
      #expect(!answered.hasFired, "bob waited for alice's requests")
      try other.execute(["COMMIT"])
      for save in saves { try await save.value }
      other.close()
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("An account that another server removed is made again by a fetch")
    func removedAccountIsMadeByFetch() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, connections: 1, notifies: false)
      }
      let phone = servers[1].device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      _ = try await send("fetch", .fetchZones(nil), by: phone)
      try servers[0].reset()
      guard case .zones(let zones) = try await send("again", .fetchZones(nil), by: phone) else {
        throw Unexpected()
      }
      #expect(zones.map(\.id) == [.default])
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A new connection to a database whose layout is newer by now is refused")
    func newerLayoutIsRefusedOnNewConnection() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(
        postgreSQL: database.address, connections: 1, notifies: false)
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("fetch", .fetchZones(nil), by: phone)
      try database.execute([
        "UPDATE cloudsync.layout SET version = version + 1",
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """,
      ])
      let error = await #expect(throws: CloudError.self) {
        try await send("again", .fetchZones(nil), by: phone)
      }
      #expect(error?.message.contains("newer version") == true, "\(error?.message ?? "")")
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("No other process writes while a server is reset or imports an archive")
    func replacementExcludesWriters() async throws {
      let database = try TemporaryDatabase()
      // Half of it is the time for which a lock is awaited.
      let patience = Duration.seconds(4)
      let server = try LoopbackServer(
        postgreSQL: database.address, notifies: false, patience: patience)
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let archive = try server.exportArchive()
      let other = try PostgreSQLStorage(database.address)
      let hasty = try PostgreSQLStorage(database.address, patience: patience)
      let home = DatabaseID(
        container: "late", environment: .development, scope: .private, owner: UserID("_a"))
      func write(_ storage: PostgreSQLStorage) throws {
        try storage.transaction {
          try storage.commit([.putDatabase(DatabaseRow(id: home, incarnation: 1))])
        }
      }
      func isRefused(_ body: () throws -> Void) -> Bool { (try? body()) == nil }
      try other.transaction {
        _ = try other.database(home)
        try other.commit([.putDatabase(DatabaseRow(id: home, incarnation: 1))])
        #expect(isRefused { try server.reset() }, "it would leave these rows")
      }
      try server.reset()
      #expect(try other.databases().isEmpty)
      var lines = String(decoding: archive, as: UTF8.self).split(separator: "\n")[...]
      try server.importArchive {
        if lines.count == 2 {
          #expect(isRefused { try write(hasty) }, "the archive would replace it")
        }
        return lines.popFirst().map(String.init)
      }
      try write(other)
      #expect(try other.databases().map(\.id.container).sorted() == ["c", "late"])
      try hasty.close()
      try other.close()
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("Accounts that another process removed are not made again by a notification")
    func notificationMakesNoAccount() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, notifies: false)
      }
      let tablet = servers[1].device("tablet", signedInAs: "bob")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: tablet)
      try servers[0].reset()
      let phone = servers[0].device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let storage = try PostgreSQLStorage(database.address)
      let changed = try storage.databases().map(\.id)
      #expect(changed.count == 1)
      // The first notices the reset, and the server forgets what it knew of accounts.
      for _ in 0..<3 { servers[1].check(changed) }
      #expect(try storage.accounts().map(\.name) == ["alice"])
      try storage.close()
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("An administrative action does not hide a change of another server")
    func administrationHidesNoChange() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, notifies: false)
      }
      let tablet = servers[0].device("tablet", signedInAs: "alice")
      let phone = servers[1].device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: tablet)
      let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      _ = try await send(
        "watch", .modifySubscriptions(ModifySubscriptions(save: [subscription])), by: tablet)
      _ = try servers[0].checkForForeignChanges()
      let record = Record(id: RecordID(name: "a", zone: Self.zone), type: "Note")
      _ = try await send(
        "save", .modifyRecords(ModifyRecords(save: [RecordSave(record)])), by: phone)
      try servers[0].controls.expireTokens(container: "c", account: "alice")
      #expect(try servers[0].checkForForeignChanges())
      #expect(try !servers[0].checkForForeignChanges())
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }
  }
#endif
