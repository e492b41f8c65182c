import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Limits of the push queues")
struct CourierLimitTests {
  private func holder(_ device: String) -> SignedPath.Owner {
    SignedPath.Owner(
      account: "alice", device: device, container: "c", environment: .development,
      database: .private)
  }

  /// Proves I22, WS-74.
  @Test("Of too many queues the one that was unread for the longest time is removed")
  func theLongestUnreadQueueIsRemovedFirst() async {
    let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 1) })
    let courier = WebCourier(clock: SimulatedClock(), wallClock: server.clock, maximumQueues: 10)
    for number in 0..<1000 { courier.open(holder("device \(number)"), server) }
    #expect(courier.queueCount == 10)
    courier.close()
    #expect(courier.queueCount == 0)
    server.close()
  }

  /// Proves WS-74.
  @Test("A queue that was unread for more than five minutes is removed when another is made")
  func anIdleQueueIsRemoved() async {
    let seconds = Mutex(0.0)
    let server = LoopbackServer(
      clock: { Timestamp(secondsSinceReferenceDate: seconds.withLock { $0 }) })
    let courier = WebCourier(clock: SimulatedClock(), wallClock: server.clock)
    for (time, count) in [(0.0, 1), (200, 2), (300, 3), (301, 3), (600, 3)] {
      seconds.withLock { $0 = time }
      courier.open(holder("device \(time)"), server)
      #expect(courier.queueCount == count, "after \(time) s")
    }
    courier.close()
    server.close()
  }

  /// The identifiers of the subscriptions whose pushes answer requests, until one is empty.
  private func answers(
    _ courier: WebCourier, _ owner: SignedPath.Owner, _ server: LoopbackServer, most: Int
  ) async throws -> [String] {
    var found: [String] = []
    for _ in 0..<most {
      let answer = await courier.answer(owner, server, isExact: false)
      guard !answer.body.isEmpty else { break }
      let push = try JSON(parsing: answer.body)
      let content = try #require(push["ck"]?["met"] ?? push["ck"]?["fet"])
      found.append(try #require(content["sid"]?.string))
      #expect(push["aps"]?["alert"] == nil)
    }
    return found
  }

  /// Proves WS-170.
  @Test("A request without a queue gets one silent push of each subscription, and then waits")
  func aRequestWithoutQueueGetsOnePushOfEachSubscription() async throws {
    let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 1) })
    let phone = server.device("phone", signedInAs: "alice")
    let zone = ZoneID(name: "Notes")
    let info = Subscription.NotificationInfo(alertBody: "A note")
    let requests: [CloudRequest] = [
      .modifyZones(ModifyZones(save: [zone])),
      .modifySubscriptions(
        ModifySubscriptions(save: [
          Subscription(
            id: SubscriptionID("all"), kind: .database(recordType: nil), notificationInfo: info),
          Subscription(
            id: SubscriptionID("zone"), kind: .zone(zone, recordType: nil), notificationInfo: info),
        ])),
    ]
    for (number, request) in requests.enumerated() {
      _ = try await phone.send(
        CloudCall(container: "c", database: .private, requestID: "\(number)", request: request))
    }
    // Two processes, at the first of which the device got its URL.
    let couriers = (0..<2).map { _ in
      WebCourier(clock: ContinuousClock(), wallClock: server.clock, wait: .seconds(2))
    }
    let one = holder("one")
    couriers[0].open(one, server)
    #expect(try await answers(couriers[1], one, server, most: 2) == ["all", "zone"])
    #expect(couriers[1].waitingCount == 0)
    #expect(couriers.map(\.queueCount) == [1, 1])
    for courier in couriers { courier.close() }
    server.close()
  }

  /// Proves S4, WS-71, WS-72.
  @Test("A long poll without a push ends empty, by its time limit or the end of its client")
  func aLongPollEndsByTimeOrCancellation() async throws {
    let clock = SimulatedClock()
    let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 1) })
    let courier = WebCourier(clock: clock, wallClock: server.clock)
    let one = holder("one")
    for _ in 0..<20 {
      let answer = Task { await courier.answer(one, server, isExact: true) }
      while courier.requestCount == 0 { await Task.yield() }
      answer.cancel()
      #expect(await answer.value.body.isEmpty)
    }
    let late = Task { await courier.answer(one, server, isExact: true) }
    while courier.requestCount == 0 { await Task.yield() }
    while courier.requestCount > 0 {
      clock.advance(by: .seconds(25))
      await Task.yield()
    }
    #expect(await late.value.body.isEmpty)
    #expect(courier.requestCount == 0 && courier.queueCount == 1)
    courier.close()
    server.close()
  }

  /// A server with a subscription of alice's to the database, and the push of its changes.
  private func subscribedServer(
    clock: @escaping @Sendable () -> Timestamp = { Timestamp(secondsSinceReferenceDate: 1) }
  ) async throws -> LoopbackServer {
    let server = LoopbackServer(clock: clock)
    let phone = server.device("phone", signedInAs: "alice")
    for environment in CloudEnvironment.allCases {
      try await save(
        .modifySubscriptions(
          ModifySubscriptions(save: [
            Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
          ])), "subscribe in \(environment)", by: phone, in: environment)
    }
    return server
  }

  private func save(
    _ request: CloudRequest, _ id: String, by device: LoopbackDevice,
    in environment: CloudEnvironment = .development
  ) async throws {
    _ = try await device.send(
      CloudCall(
        container: "c", environment: environment, database: .private, requestID: id,
        request: request))
  }

  /// Proves WS-180.
  @Test("When a full queue has been read, one push of each subscription follows")
  func aFullQueueIsFollowedByReminders() async throws {
    let server = try await subscribedServer()
    let courier = WebCourier(
      clock: ContinuousClock(), wallClock: server.clock, wait: .milliseconds(200))
    let one = holder("one")
    courier.open(one, server)
    let phone = server.device("phone")
    try await save(.modifyZones(ModifyZones(save: [ZoneID(name: "Notes")])), "zone", by: phone)
    for number in 0..<200 {
      let push = CloudPush(
        container: "c", database: .private, subscription: SubscriptionID("query \(number)"))
      server.controls.deliver(push, to: "one")
    }
    #expect(courier.waitingCount == 200)
    let found = try await answers(courier, one, server, most: 300)
    #expect(found.count == 201 && found.last == "all" && found.first == "query 0")
    courier.close()
    server.close()
  }

  /// Proves WS-181.
  @Test("A push whose device asks again late is given once more, as its connection may have ended")
  func anUnconfirmedPushIsRepeated() async throws {
    let seconds = Mutex(1.0)
    let server = try await subscribedServer {
      Timestamp(secondsSinceReferenceDate: seconds.withLock { $0 })
    }
    let courier = WebCourier(
      clock: ContinuousClock(), wallClock: server.clock, wait: .milliseconds(200))
    let one = holder("one")
    courier.open(one, server)
    let phone = server.device("phone")
    for (number, (delay, repetitions)) in [(1.0, 0), (60, 1)].enumerated() {
      let zone = ZoneID(name: "Notes \(number)")
      try await save(.modifyZones(ModifyZones(save: [zone])), "zone \(number)", by: phone)
      #expect(try await answers(courier, one, server, most: 1) == ["all"])
      seconds.withLock { $0 += delay }
      let rest = Array(repeating: "all", count: repetitions)
      #expect(try await answers(courier, one, server, most: 9) == rest, "after \(delay) s")
      seconds.withLock { $0 += 60 }
      #expect(try await answers(courier, one, server, most: 9) == [], "only once")
    }
    courier.close()
    server.close()
  }

  /// Proves WS-184.
  @Test("A device gets the pushes of its environment only")
  func aDeviceGetsPushesOfItsEnvironment() async throws {
    let server = try await subscribedServer()
    let courier = WebCourier(
      clock: ContinuousClock(), wallClock: server.clock, wait: .milliseconds(200))
    var owners = [holder("one"), holder("two")]
    owners[1].environment = .production
    for owner in owners { courier.open(owner, server) }
    let phone = server.device("phone")
    let zone = CloudRequest.modifyZones(ModifyZones(save: [ZoneID(name: "Notes")]))
    try await save(zone, "development", by: phone)
    #expect(try await answers(courier, owners[1], server, most: 1) == [])
    #expect(try await answers(courier, owners[0], server, most: 2) == ["all"])
    try await save(zone, "production", by: phone, in: .production)
    #expect(try await answers(courier, owners[0], server, most: 1) == [])
    #expect(try await answers(courier, owners[1], server, most: 2) == ["all"])
    courier.close()
    server.close()
  }
}
