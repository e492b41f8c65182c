#if PostgreSQL
  import CloudProtocol
  import PostgreSQL
  import Records
  import Synchronization
  import Testing
  import VerificationSupport

  @testable import LoopbackServer

  @Suite("Servers on one PostgreSQL: rate limits and faults")
  struct PostgreSQLSharedStateTests {
    /// Two servers that learn of each other's changes at checks alone, each with a phone of alice.
    private struct Pair {
      let database: TemporaryDatabase
      let servers: [LoopbackServer]
      let phones: [LoopbackDevice]

      init(limits: [ServerLimits] = [ServerLimits(), ServerLimits()], notifies: Bool = false)
        throws
      {
        let database = try TemporaryDatabase()
        servers = try zip(limits, [1_000.0, 5_000]).map { limits, time in
          // Their clocks are more than an hour apart.
          try LoopbackServer(
            postgreSQL: database.address, connections: 4, notifies: notifies,
            clock: { Timestamp(secondsSinceReferenceDate: time) }, limits: limits)
        }
        phones = servers.map { $0.device("phone", signedInAs: "alice") }
        self.database = database
      }

      func check() throws {
        for server in servers { try server.checkForForeignChanges() }
      }

      func close() {
        for server in servers { server.close() }
        #expect(database.otherConnections == [])
      }
    }

    /// The outcomes of a request at each of some devices, one after the other.
    private func outcomes(at devices: LoopbackDevice...) async -> [String] {
      var found: [String] = []
      for device in devices { found.append(await outcome(of: who, on: device)) }
      return found
    }

    // MARK: Rate limits

    @Test("The requests of an account at all servers count together, by the database's clock")
    func requestsCountTogether() async throws {
      var limits = ServerLimits()
      limits.throttle = ServerLimits.Throttle(requests: 3, seconds: 3_600)
      let pair = try Pair(limits: [limits, limits])
      let (first, second) = (pair.phones[0], pair.phones[1])
      #expect(
        await outcomes(at: first, second, first, second, first)
          == ["ok", "ok", "ok", "serviceUnavailable", "requestRateLimited"])
      let other = pair.servers[1].device("other", signedInAs: "bob")
      #expect(await outcomes(at: other) == ["ok"])
      do {
        _ = try await first.send(who)
        Issue.record("the request was answered")
      } catch { #expect(error.retryAfter.map { (0...3_600).contains($0) } == true) }
      // An hour later: bob's window is removed when alice's next one begins.
      try pair.database.execute(["UPDATE cloudsync.request_counts SET ends = ends - 3600000000"])
      #expect(await outcomes(at: second, first) == ["ok", "ok"])
      #expect(
        try pair.database.rows("SELECT requests::text FROM cloudsync.request_counts") == ["2"])
      // The database's clock was set back by a day.
      try pair.database.execute(["UPDATE cloudsync.request_counts SET ends = ends + 86400000000"])
      #expect(await outcomes(at: first, second) == ["ok", "ok"])
      pair.close()
    }

    @Test("Of many requests at once, as many are allowed as the rate says")
    func concurrentRequestsCountOnce() async throws {
      var limits = ServerLimits()
      limits.throttle = ServerLimits.Throttle(requests: 10, seconds: 3_600)
      let pair = try Pair(limits: [limits, limits])
      let found = await concurrently(30, pair)
      #expect(found == ["ok": 10, "serviceUnavailable": 1, "requestRateLimited": 19])
      pair.close()
    }

    /// How often each outcome came from requests that were sent at once to both servers.
    private func concurrently(_ count: Int, _ pair: Pair) async -> [String: Int] {
      await withTaskGroup(of: String.self) { group in
        for number in 0..<count {
          group.addTask { await outcome(of: who, on: pair.phones[number % 2]) }
        }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
    }

    /// The statements that a storage sent.
    private final class Statements: Sendable {
      private let sent = Mutex<[String]>([])

      func add(_ statements: [PostgreSQLStatement]) {
        sent.withLock { $0 += statements.map(\.sql) }
      }

      func take() -> [String] {
        sent.withLock { sent in
          defer { sent = [] }
          return sent
        }
      }
    }

    @Test("Without a rate limit and a fault, a request makes no statement for either")
    func nothingSharedCostsNothing() async throws {
      let database = try TemporaryDatabase()
      let sent = Statements()
      let storage = try PostgreSQLStorage(database.address)
      storage.watch = { sent.add($0) }
      let server = try LoopbackServer(
        storages: StoragePool([storage], patience: .seconds(60)),
        clock: { Timestamp(secondsSinceReferenceDate: 1_000) }, delayClock: ContinuousClock(),
        limits: ServerLimits(), taskExecutor: nil)
      let phone = server.device("phone", signedInAs: "alice")
      func shared() async -> Int {
        _ = sent.take()
        #expect(await outcome(of: who, on: phone) == "ok")
        return sent.take().count { $0.contains("shared_state") || $0.contains("request_counts") }
      }
      #expect(await shared() == 0)
      server.controls.fail(with: .zoneBusy, in: RequestScope(device: "tablet"))
      #expect(await shared() == 0)
      server.controls.delay(by: 0)
      #expect(await shared() > 0)
      #expect(await shared() == 0)
      server.close()
      #expect(database.otherConnections == [])
    }

    // MARK: Faults of requests

    @Test("The next three requests at all servers fail, and no more")
    func countIsUsedUpByAllServers() async throws {
      let pair = try Pair()
      pair.servers[0].controls.fail(next: 3, with: .zoneBusy)
      try pair.check()
      #expect(pair.servers[1].controls.pendingFaults.map(\.remaining) == [3])
      #expect(
        await outcomes(at: pair.phones[0], pair.phones[1], pair.phones[0])
          == ["zoneBusy", "zoneBusy", "zoneBusy"])
      #expect(await outcomes(at: pair.phones[1], pair.phones[0]) == ["ok", "ok"])
      try pair.check()
      #expect(pair.servers.map(\.controls.remainingFaultCount) == [0, 0])
      pair.close()
    }

    @Test("Of many requests at once at all servers, as many fail as the fault says")
    func concurrentRequestsUseFaultOnce() async throws {
      let pair = try Pair()
      pair.servers[0].controls.fail(next: 10, with: .zoneBusy)
      try pair.check()
      #expect(await concurrently(30, pair) == ["zoneBusy": 10, "ok": 20])
      pair.close()
    }

    @Test("A fault that is removed or cleared at one server ends at the other at once")
    func removedFaultEndsEverywhere() async throws {
      let pair = try Pair()
      pair.servers[0].controls.fail(next: .max, with: .zoneBusy)
      pair.servers[0].controls.dropAnswers(next: .max)
      try pair.check()
      #expect(await outcomes(at: pair.phones[1], pair.phones[0]) == ["zoneBusy", "zoneBusy"])
      let number = try #require(pair.servers[1].controls.pendingFaults.first?.number)
      #expect(pair.servers[1].controls.removeFault(number))
      #expect(!pair.servers[0].controls.removeFault(number))
      #expect(await outcomes(at: pair.phones[0]) == ["networkFailure"])
      pair.servers[0].controls.clear()
      #expect(await outcomes(at: pair.phones[1], pair.phones[0]) == ["ok", "ok"])
      pair.close()
    }

    @Test("A server that starts later has the faults, limits and states of devices")
    func laterServerHasFaults() async throws {
      let pair = try Pair()
      let controls = pair.servers[0].controls
      var limits = ServerLimits()
      limits.itemsPerRequest = 1
      controls.setLimits(limits)
      controls.fail(next: 2, with: .zoneBusy, in: RequestScope(device: "tablet"))
      controls.dropPushes(next: 4)
      controls.holdPushes()
      controls.setAvailability(.temporarilyUnavailable, device: "phone", account: "alice")
      let later = try LoopbackServer(postgreSQL: pair.database.address, notifies: false)
      #expect(later.limits == limits)
      #expect(later.controls.pendingFaults == controls.pendingFaults)
      #expect(later.controls.pendingPushLosses == controls.pendingPushLosses)
      #expect(later.controls.holdsPushes)
      let phone = later.remoteDevice("phone", account: "alice")
      #expect(await outcomes(at: phone) == ["accountTemporarilyUnavailable"])
      #expect(await outcomes(at: later.remoteDevice("phone", account: "bob")) == ["ok"])
      let tablet = later.device("tablet", signedInAs: "alice")
      #expect(await outcomes(at: tablet, tablet, tablet) == ["zoneBusy", "zoneBusy", "ok"])
      later.close()
      pair.close()
    }

    @Test("A notification of the database spreads a fault and its end without a check")
    func notificationSpreadsFaults() async throws {
      let pair = try Pair(notifies: true)
      let there = pair.servers[1].controls
      pair.servers[0].controls.fail(next: .max, with: .zoneBusy)
      while there.remainingFaultCount == 0 { await Task.yield() }
      #expect(await outcomes(at: pair.phones[1]) == ["zoneBusy"])
      pair.servers[0].controls.clear()
      while there.remainingFaultCount != 0 { await Task.yield() }
      #expect(await outcomes(at: pair.phones[1]) == ["ok"])
      pair.close()
    }

    @Test("A request that one server holds is released at another; a count releases those of one")
    func heldRequestIsReleasedElsewhere() async throws {
      let pair = try Pair()
      pair.servers[0].controls.hold()
      try pair.check()
      async let held = outcomes(at: pair.phones[1])
      await pair.servers[1].controls.waitForHeldRequests()
      pair.servers[0].controls.release(1)
      try pair.check()
      #expect(pair.servers[1].controls.heldRequests.count == 1)
      pair.servers[0].controls.release()
      try pair.check()
      #expect(await held == ["ok"])
      #expect(await outcomes(at: pair.phones[0], pair.phones[1]) == ["ok", "ok"])
      pair.close()
    }

    @Test("A fault that the database does not store holds at its server, and later at all")
    func faultIsStoredLater() async throws {
      let pair = try Pair()
      let controls = pair.servers[0].controls
      try pair.database.setAcceptsConnections(false)
      controls.fail(next: 1, with: .zoneBusy)
      #expect(controls.pendingFaults.count == 1)
      #expect(throws: CloudError.self) { try controls.synchronize() }
      try pair.database.setAcceptsConnections(true)
      try controls.synchronize()
      try pair.check()
      #expect(pair.servers[1].controls.pendingFaults == controls.pendingFaults)
      #expect(await outcomes(at: pair.phones[1], pair.phones[0]) == ["zoneBusy", "ok"])
      pair.close()
    }

    // MARK: Limits, pushes and devices

    @Test("Limits that are set at one server hold at all; the first ones give each its own")
    func limitsHoldEverywhere() async throws {
      var other = ServerLimits()
      other.assetBytes = 1_000
      let pair = try Pair(limits: [ServerLimits(), other])
      var limits = ServerLimits()
      limits.throttle = ServerLimits.Throttle(requests: 1, seconds: 3_600)
      pair.servers[1].controls.setLimits(limits)
      try pair.check()
      #expect(pair.servers.map(\.limits) == [limits, limits])
      #expect(await outcomes(at: pair.phones[0], pair.phones[1]) == ["ok", "serviceUnavailable"])
      pair.servers[0].controls.setLimits(ServerLimits())
      try pair.check()
      #expect(pair.servers.map(\.limits) == [ServerLimits(), other])
      pair.close()
    }

    @Test("Pushes are lost as often as the fault says, and held until any server releases them")
    func pushFaultsHoldEverywhere() async throws {
      let pair = try Pair()
      let there = pair.servers[1].controls
      let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
      let modification = ModifySubscriptions(save: [subscription])
      let watching = call("watch", .modifySubscriptions(modification))
      #expect(await outcome(of: watching, on: pair.phones[0]) == "ok")
      let watch = pair.servers[1].device("watch", signedInAs: "alice")
      try pair.check()
      func change(_ name: String) async throws {
        let zone = ZoneID(name: name)
        let change = call("zone \(name)", .modifyZones(ModifyZones(save: [zone])))
        #expect(await outcome(of: change, on: pair.phones[0]) == "ok")
        try pair.check()
      }
      pair.servers[0].controls.dropPushes(next: 1, to: watch.name)
      try await change("a")
      #expect(there.pushes.filter { $0.device == watch.name }.map(\.fate) == [.dropped])
      #expect(
        pair.servers[0].controls.pendingPushLosses == [
          PendingPushLoss(device: watch.name, remaining: 1)
        ])
      try pair.check()
      #expect(pair.servers[0].controls.pendingPushLosses == [])
      pair.servers[0].controls.holdPushes()
      try await change("b")
      #expect(there.heldPushes.map(\.device).contains(watch.name))
      pair.servers[0].controls.releasePushes()
      try pair.check()
      #expect(there.heldPushCount == 0)
      #expect(
        there.pushes.filter { $0.device == watch.name }.map(\.fate)
          == [.dropped, .held, .delivered])
      let push = try #require(there.pushes.last?.push)
      pair.servers[0].controls.deliver(push, to: watch.name)
      try pair.check()
      #expect(there.pushes.last == PushEntry(device: watch.name, push: push, fate: .delivered))
      pair.close()
    }

    @Test("The state of a device that is set at one server holds at all, and ends at all")
    func deviceStatesHoldEverywhere() async throws {
      let pair = try Pair()
      let controls = pair.servers[0].controls
      controls.setAvailability(.restricted, device: "phone")
      try pair.check()
      #expect(
        await outcomes(at: pair.phones[0], pair.phones[1])
          == ["notAuthenticated", "notAuthenticated"])
      controls.setAvailability(.available, device: "phone")
      controls.setOnline(false, device: "phone", account: "alice")
      try pair.check()
      #expect(
        await outcomes(at: pair.phones[0], pair.phones[1])
          == ["networkUnavailable", "networkUnavailable"])
      pair.servers[1].controls.setOnline(true, device: "phone")
      try pair.check()
      #expect(await outcomes(at: pair.phones[0], pair.phones[1]) == ["ok", "ok"])
      pair.close()
    }
  }
#endif
