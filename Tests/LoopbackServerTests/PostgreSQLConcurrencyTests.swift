#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  /// Changes of the same rows by two servers at the same time, and changes during an outage.
  @Suite("PostgreSQL: changes at the same time")
  struct PostgreSQLConcurrencyTests {
    private static let zone = ZoneID(name: "notes")
    private static let home = DatabaseID(
      container: "c", environment: .development, scope: .private, owner: UserID("_a"))

    private func send(
      _ id: String, _ request: CloudRequest, by device: LoopbackDevice
    ) async throws -> CloudReply {
      try await device.send(
        CloudCall(container: "c", database: .private, requestID: id, request: request))
    }

    private func save(_ name: String, by device: LoopbackDevice) async throws {
      let record = Record(id: RecordID(name: name, zone: Self.zone), type: "Note")
      _ = try await send(
        name, .modifyRecords(ModifyRecords(save: [RecordSave(record)])), by: device)
    }

    @Test("Changed faults that could not be stored are stored once, however many checks store them")
    func waitingFaultsAreStoredOnce() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("who", .fetchCurrentUser, by: phone)
      for round in 1...20 {
        try database.setAcceptsConnections(false)
        server.controls.fail(next: 1, with: CloudError(.zoneBusy, "busy"))
        try database.setAcceptsConnections(true)
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { try? server.controls.synchronize() } }
        }
        try server.controls.synchronize()
        #expect(server.controls.pendingFaults.count == 1, "round \(round)")
        server.controls.clear()
      }
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("An export whose connection is lost fails, and does not begin again in the same archive")
    func cutExportFails() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let world = try await ArchiveWorld(filling: server)
      var lines = 0
      #expect(throws: (any Error).self) {
        try server.exportArchive { _ in
          lines += 1
          guard lines == 2 else { return }
          try database.execute([
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
          ])
        }
      }
      let afterCut = lines
      lines = 0
      try server.exportArchive { _ in lines += 1 }
      #expect(afterCut < lines)
      withExtendedLifetime(world) {}
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("A reader of all receipts keeps none of them")
    func receiptsOfExportAreNotKept() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address)
      let key = ReceiptKey(user: UserID("_a"), device: "d", requestID: "1")
      try storage.commit([
        .putReceipt(Receipt(key: key, reply: .currentUser(UserID("_a"))), keeping: 1)
      ])
      try storage.transaction {
        try storage.foresee {
          var plan = ReadPlan()
          plan.access = .reading
          return plan
        }
        #expect(try storage.receipt(key) != nil)
        #expect(storage.rows.receipts.isEmpty)
      }
      try storage.close()
      #expect(database.otherConnections == [])
    }

    /// Two servers, and a device at the first whose account subscribes to its whole database.
    private func watchedServers(
      on database: TemporaryDatabase
    ) async throws -> ([LoopbackServer], LoopbackDevice) {
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, notifies: false)
      }
      let phone = servers[0].device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      _ = try await send(
        "watch", .modifySubscriptions(ModifySubscriptions(save: [subscription])), by: phone)
      return (servers, phone)
    }

    @Test("The first device of an account gets no pushes for changes before it came")
    func earlierChangesAreNotPushed() async throws {
      let database = try TemporaryDatabase()
      let (servers, phone) = try await watchedServers(on: database)
      try await save("a", by: phone)
      let tablet = servers[1].remoteDevice("tablet", account: "alice")
      let reminders = try servers[1].pushes(
        ofSubscriptionsOf: "alice", container: "c", .development)
      #expect(reminders.map(\.subscription) == [SubscriptionID("all")])
      #expect(try !servers[1].checkForForeignChanges())
      try await save("b", by: phone)
      #expect(try servers[1].checkForForeignChanges())
      // Another device does not hide changes from the first.
      try await save("c", by: phone)
      _ = try servers[1].pushes(ofSubscriptionsOf: "alice", container: "c", .development)
      #expect(try servers[1].checkForForeignChanges())
      withExtendedLifetime(tablet) {}
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("An expected device gets no pushes for changes before it came, public ones included")
    func expectedDeviceGetsNoEarlierChanges() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in
        try LoopbackServer(postgreSQL: database.address, notifies: false)
      }
      let phone = servers[0].device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let watched = QuerySubscription(
        query: Query(recordType: "Note"), zone: nil, options: [.firesOnRecordCreation])
      let subscriptions: [(DatabaseScope, Subscription)] = [
        (.private, Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))),
        (.public, Subscription(id: SubscriptionID("notes"), kind: .query(watched))),
      ]
      for (scope, subscription) in subscriptions {
        let request = CloudRequest.modifySubscriptions(ModifySubscriptions(save: [subscription]))
        _ = try await phone.send(
          CloudCall(container: "c", database: scope, requestID: "s\(scope)", request: request))
      }
      func savePublicly(_ name: String) async throws {
        let record = Record(id: RecordID(name: name, zone: .default), type: "Note")
        let request = CloudRequest.modifyRecords(ModifyRecords(save: [RecordSave(record)]))
        _ = try await phone.send(
          CloudCall(container: "c", database: .public, requestID: "p\(name)", request: request))
      }
      try await save("a", by: phone)
      try await savePublicly("a")
      try servers[1].expectDevice(of: "alice")
      let tablet = servers[1].remoteDevice("tablet", account: "alice")
      #expect(try !servers[1].checkForForeignChanges())
      try await save("b", by: phone)
      #expect(try servers[1].checkForForeignChanges())
      try await savePublicly("b")
      #expect(try servers[1].checkForForeignChanges())
      withExtendedLifetime(tablet) {}
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("An upload does not wait for the database of its account")
    func uploadDoesNotWaitForDatabase() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(
        postgreSQL: database.address, notifies: false, patience: .seconds(2))
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      let other = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try other.execute(["BEGIN", "SELECT FROM cloudsync.databases FOR UPDATE"])
      let upload = UploadAsset(
        recordType: "T", key: "file", content: Array(repeating: 1, count: 99))
      let reply = try await send("upload", .uploadAsset(upload), by: phone)
      guard case .assetUploaded(let asset) = reply else {
        Issue.record("no receipt: \(reply)")
        return
      }
      try other.execute(["COMMIT"])
      let record = Record(
        id: RecordID(name: "a", zone: Self.zone), type: "T", fields: ["file": .asset(asset)])
      _ = try await send(
        "save", .modifyRecords(ModifyRecords(save: [RecordSave(record)])), by: phone)
      #expect(try server.records(in: Self.zone, container: "c", account: "alice").count == 1)
      other.close()
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("A change of an account that another server has changed since runs again")
    func changedAccountIsAConflict() throws {
      let database = try TemporaryDatabase()
      let storages = try (0..<2).map { _ in try PostgreSQLStorage(database.address) }
      var row = AccountRow(name: "alice", user: UserID("_a"))
      #expect(throws: TransactionConflict.self) {
        try storages[0].transaction {
          #expect(try storages[0].account(named: "alice") == nil)
          try storages[1].commit([.putAccount(row)])
          try storages[0].commit([.putAccount(row)])
        }
      }
      row.quota = 7
      #expect(throws: TransactionConflict.self) {
        try storages[0].transaction {
          var found = try #require(try storages[0].account(row.user))
          try storages[1].commit([.putAccount(row)])
          found.person.email = "alice@example.com"
          try storages[0].commit([.putAccount(found)])
        }
      }
      #expect(try storages[0].account(row.user) == row)
      for storage in storages { try storage.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A change of a record type that another server has changed since runs again")
    func changedRecordTypeIsAConflict() throws {
      let database = try TemporaryDatabase()
      let storages = try (0..<2).map { _ in try PostgreSQLStorage(database.address) }
      let id = RecordTypeID(container: "c", environment: .development, name: "Note")
      func row(_ keys: String...) -> RecordTypeRow {
        RecordTypeRow(id: id, fields: keys.map { FieldRow(key: $0, shape: nil) })
      }
      let cases: [(RecordTypeRow?, RecordTypeRow, RecordTypeRow)] = [
        (nil, row("a"), row("b")), (row("a"), row("a", "c"), row("a", "b")),
      ]
      for (stored, other, own) in cases {
        #expect(throws: TransactionConflict.self) {
          try storages[0].transaction {
            #expect(try storages[0].recordType(id) == stored)
            try storages[1].commit([.putRecordType(other)])
            try storages[0].commit([.putRecordType(own)])
          }
        }
        #expect(try storages[0].recordType(id) == other)
      }
      for storage in storages { try storage.close() }
      #expect(database.otherConnections == [])
    }

    @Test("An account whose first device comes while a check begins stays watched")
    func accountThatComesAsACheckBeginsIsWatched() async throws {
      let database = try TemporaryDatabase()
      let (servers, phone) = try await watchedServers(on: database)
      _ = try servers[1].executor.foreignPushes {
        // After the check has noted the watched accounts, and before it knows of the device.
        try? servers[1].expectDevice(of: "alice")
        return []
      }
      try await save("a", by: phone)
      // What was learned before is not learned again, which would hide the change.
      try servers[1].expectDevice(of: "alice")
      let tablet = servers[1].remoteDevice("tablet", account: "alice")
      #expect(try servers[1].checkForForeignChanges())
      withExtendedLifetime(tablet) {}
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("An upload that a transaction has read is not removed before its end")
    func readUploadIsNotRemoved() throws {
      let database = try TemporaryDatabase()
      let storages = try (0..<2).map { _ in
        try PostgreSQLStorage(database.address, patience: .seconds(1))
      }
      let upload = UploadRow(
        receipt: "r", user: UserID("_a"),
        recordType: RecordTypeID(container: "c", environment: .development, name: "T"), key: "k",
        checksum: "x", size: 1, time: Timestamp(secondsSinceReferenceDate: 0))
      try storages[0].commit([.putUpload(upload, content: AssetContent([1]))])
      for isForeseen in [false, true] {
        try storages[0].transaction {
          if isForeseen {
            try storages[0].foresee {
              var plan = ReadPlan()
              plan.uploads = ["r"]
              return plan
            }
          }
          #expect(try storages[0].upload("r") == upload)
          #expect(throws: CloudError.self) { try storages[1].commit([.removeUpload("r")]) }
        }
      }
      try storages[1].commit([.removeUpload("r")])
      #expect(try storages[0].upload("r") == nil)
      for storage in storages { try storage.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A commit of many records waits for the database after each 5,000 of them")
    func largeCommitIsDivided() throws {
      let database = try TemporaryDatabase()
      let storage = try PostgreSQLStorage(database.address)
      let changes = (1...12_000).map { number -> StorageChange in
        let id = RecordID(name: "n\(number)", zone: Self.zone)
        return .putRecord(
          RecordRow(
            id: id, type: "Note", record: Record(id: id, type: "Note"),
            changedAt: UInt64(number), device: nil), in: Self.home)
      }
      let before = storage.roundTrips
      try storage.commit(changes)
      #expect(storage.roundTrips - before >= 3)
      #expect(
        try storage.recordChanges(of: Self.zone, in: Self.home, after: 11_998, limit: 5).count == 2)
      // A removal is divided, too, and includes the earlier changes of its commit.
      try storage.commit([
        changes[0], .removeEverything(identity: 7, secret: StorageSecret(first: 1, second: 2)),
        changes[1],
      ])
      #expect(
        try storage.recordChanges(of: Self.zone, in: Self.home, after: 0, limit: 5).map(\.id.name)
          == ["n2"])
      #expect(try storage.identity() == 7)
      try storage.close()
      #expect(database.otherConnections == [])
    }

    @Test("The host of the database is in the message for the operator, not in that for clients")
    func placeOfDatabaseIsNotTold() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address, notifies: false)
      let phone = server.device("phone", signedInAs: "alice")
      _ = try await send("zone", .modifyZones(ModifyZones(save: [Self.zone])), by: phone)
      try database.setAcceptsConnections(false)
      let error = await #expect(throws: CloudError.self) { try await save("a", by: phone) }
      #expect(error?.message == "the database can't be reached")
      let place = try #require(database.address.firstMatch(of: /host=([^&]*)/)?.output.1)
      #expect(server.storageUse.lastFailure?.contains(place) == true)
      try database.setAcceptsConnections(true)
      server.close()
      #expect(database.otherConnections == [])
    }
  }
#endif
