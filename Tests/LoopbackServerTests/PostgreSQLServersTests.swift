#if PostgreSQL
  import CloudMachine
  import CloudProtocol
  import PostgreSQL
  import Records
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("Servers on one PostgreSQL")
  struct PostgreSQLServersTests {
    private let zone = ZoneID(name: "notes")

    private func send(
      _ id: String, _ request: CloudRequest, by device: LoopbackDevice
    ) async throws -> CloudReply {
      try await device.send(
        CloudCall(container: "c", database: .private, requestID: id, request: request))
    }

    private func save(_ name: String, by device: LoopbackDevice) async throws {
      let record = Record(id: RecordID(name: name, zone: zone), type: "Note")
      _ = try await send(
        "save \(name)", .modifyRecords(ModifyRecords(save: [RecordSave(record)])), by: device)
    }

    /// Why a record was not saved; `nil` if it was.
    private func outcome(
      of name: String, by device: LoopbackDevice
    ) async throws -> CloudError.Code? {
      let record = Record(id: RecordID(name: name, zone: zone), type: "Note")
      let reply = try await send(
        "save \(name)", .modifyRecords(ModifyRecords(save: [RecordSave(record)])), by: device)
      guard case .recordsModified(let saved, _) = reply, case .failure(let error) = saved[0].outcome
      else { return nil }
      return error.code
    }

    private func signedIn(_ name: String, as account: String, on server: LoopbackServer)
      async throws -> LoopbackDevice
    {
      let device = server.device(name, signedInAs: account)
      _ = try await send("zone", .modifyZones(ModifyZones(save: [zone])), by: device)
      return device
    }

    /// The pushes to a device, as they come.
    private func pushes(to device: LoopbackDevice) -> (
      AsyncStream<CloudPush>, any SignalObservation
    ) {
      let (stream, continuation) = AsyncStream.makeStream(of: CloudPush.self)
      let observation = device.observeSignals { signal in
        if case .push(let push) = signal { continuation.yield(push) }
      }
      return (stream, observation)
    }

    /// Proves X7.
    @Test("A change on one server is pushed to the devices of another without a check")
    func changeIsPushedWithoutCheck() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in try LoopbackServer(postgreSQL: database.address) }
      let phone = try await signedIn("phone", as: "alice", on: servers[0])
      let tablet = try await signedIn("tablet", as: "alice", on: servers[1])
      let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      _ = try await send(
        "watch", .modifySubscriptions(ModifySubscriptions(save: [subscription])), by: tablet)
      let (stream, observation) = pushes(to: tablet)
      var arriving = stream.makeAsyncIterator()
      for number in 0..<20 {
        try await save("n\(number)", by: phone)
        let push = try #require(await arriving.next())
        #expect(push.subscription == subscription.id)
      }
      observation.stop()
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("Changes of many databases at once are told in several notifications")
    func manyDatabasesAreTold() async throws {
      let database = try TemporaryDatabase()
      let listener = PostgreSQLNotifier(database.address)
      let sender = PostgreSQLNotifier(database.address)
      let changed = (0..<200).map { number in
        DatabaseID(
          container: String(repeating: "c", count: 100), environment: .development,
          scope: .private, owner: UserID("_\(number)"))
      }
      let (stream, continuation) = AsyncStream.makeStream(of: [DatabaseID].self)
      listener.listen { continuation.yield($0) }
      var arriving = stream.makeAsyncIterator()
      // It listens now.
      let first = await arriving.next()
      #expect(first == [])
      // It is connected when this has arrived: one that is closed does not connect any more.
      sender.send([])
      let second = await arriving.next()
      #expect(second == [])
      sender.send(changed)
      // The last notification of a server names no database.
      sender.close()
      var told: Set<DatabaseID> = []
      while let named = await arriving.next(), !named.isEmpty { told.formUnion(named) }
      #expect(told == Set(changed))
      listener.close()
      #expect(database.otherConnections == [])
    }

    @Test("A request that waits for a lock keeps no other account waiting")
    func lockedAccountKeepsNoOtherWaiting() async throws {
      let database = try TemporaryDatabase()
      // No limit of time ends the wait, however slow the other tests make this one.
      let server = try LoopbackServer(
        postgreSQL: database.address, notifies: true, patience: .seconds(3_600))
      let alice = try await signedIn("phone", as: "alice", on: server)
      let bob = try await signedIn("laptop", as: "bob", on: server)
      let other = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try other.execute([
        "SET idle_in_transaction_session_timeout = 0", "BEGIN",
        """
        SELECT FROM cloudsync.databases d JOIN cloudsync.accounts a ON a.user_name = d.owner
        WHERE a.name = 'alice' FOR UPDATE OF d
        """,
      ])
      async let waiting: Void = save("a", by: alice)
      for number in 0..<10 { try await save("b\(number)", by: bob) }
      let records = { (account: String) in
        try server.records(in: zone, container: "c", account: account).count
      }
      #expect(try records("alice") == 0)
      #expect(try records("bob") == 10)
      try other.execute(["COMMIT"])
      try await waiting
      #expect(try records("alice") == 1)
      other.close()
      server.close()
      #expect(database.otherConnections == [])
    }

    /// Proves X7.
    @Test("A client goes on with tokens, cursors, receipts, files and shares at another server")
    func clientGoesOnAtAnotherServer() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in try LoopbackServer(postgreSQL: database.address) }
      let world = try await ArchiveWorld(filling: servers[0])
      let found = try await world.continued(on: servers[1])
      #expect(found == (try await world.continued(on: servers[0])))
      #expect(found.count == 7)
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test(
      "A quota that one server sets is kept by the others, whichever of them stores the records")
    func quotaIsKeptByAllServers() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in try LoopbackServer(postgreSQL: database.address) }
      let devices = try await servers.asyncMap { try await signedIn("phone", as: "alice", on: $0) }
      for (number, device) in devices.enumerated() { try await save("n\(number)", by: device) }
      let used = try #require(try servers[0].databases().first { $0.account == "alice" }).byteCount
      #expect(try servers[1].databases().first { $0.account == "alice" }?.byteCount == used)
      try servers[0].controls.setQuota(used, of: "alice")
      for (number, device) in devices.enumerated() {
        #expect(try await outcome(of: "full\(number)", by: device) == .quotaExceeded)
      }
      try servers[1].controls.setQuota(nil, of: "alice")
      for (number, device) in devices.enumerated() {
        #expect(try await outcome(of: "more\(number)", by: device) == nil)
      }
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    /// Proves X7.
    @Test("A request that two servers get at once is carried out once, and both give its answer")
    func requestAtTwoServersIsCarriedOutOnce() async throws {
      let database = try TemporaryDatabase()
      let servers = try (0..<2).map { _ in try LoopbackServer(postgreSQL: database.address) }
      let first = try await signedIn("phone", as: "alice", on: servers[0])
      let second = servers[1].device("phone", signedInAs: "alice")
      let other = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try other.execute(["BEGIN", "SELECT FROM cloudsync.databases FOR UPDATE"])
      async let one = outcome(of: "n", by: first)
      async let two = outcome(of: "n", by: second)
      // Both wait for the lock that the receipt is read behind.
      let waiting = PostgreSQLStatement(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()
        """)
      while try other.run([waiting])[0].first({ try $0.integer(0) }) != 2 { await Task.yield() }
      try other.execute(["COMMIT"])
      #expect(try await one == nil)
      #expect(try await two == nil)
      other.close()
      for server in servers { server.close() }
      #expect(database.otherConnections == [])
    }

    @Test("A request that finds no free connection in time is refused, and later ones are answered")
    func exhaustedPoolRefuses() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(
        postgreSQL: database.address, connections: 2, notifies: true, patience: .seconds(1))
      let devices = try await ["alice", "bob", "carol"].asyncMap {
        try await signedIn("device of \($0)", as: $0, on: server)
      }
      let other = try PostgreSQLConnection(database.address, patience: .seconds(60))
      try other.execute(["BEGIN", "SELECT FROM cloudsync.databases FOR UPDATE"])
      let codes = await withTaskGroup(of: CloudError.Code?.self) { group in
        for device in devices {
          group.addTask {
            do { try await save("x", by: device) } catch { return (error as? CloudError)?.code }
            return nil
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(codes == [.serviceUnavailable, .serviceUnavailable, .serviceUnavailable])
      // What has waited that long is not run again.
      #expect(server.storageUse.conflicts == 0)
      try other.execute(["ROLLBACK"])
      for device in devices { try await save("x", by: device) }
      #expect(server.storageUse.connections == 2)
      #expect(server.storageUse.connectionsInUse == 0)
      #expect(server.storageUse.transactionsWaiting == 0)
      other.close()
      server.close()
      #expect(database.otherConnections == [])
    }

    @Test("The storage check fails while the database takes no connections, then succeeds again")
    func storageCheckFollowsDatabase() async throws {
      let database = try TemporaryDatabase()
      let server = try LoopbackServer(postgreSQL: database.address)
      try await server.checkStorage()
      try database.setAcceptsConnections(false)
      await #expect(throws: CloudError.self) { try await server.checkStorage() }
      try database.setAcceptsConnections(true)
      try await server.checkStorage()
      server.close()
      #expect(database.otherConnections == [])
    }
  }

  extension Sequence {
    /// The results of `body` for every element, one after the other.
    fileprivate func asyncMap<Value>(
      _ body: (Element) async throws -> Value
    ) async rethrows -> [Value] {
      var values: [Value] = []
      for element in self { values.append(try await body(element)) }
      return values
    }
  }
#endif
