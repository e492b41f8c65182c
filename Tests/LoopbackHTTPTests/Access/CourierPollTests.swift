import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

/// A clock on which each look is a second later than the one before.
private final class CountingClock: Sendable {
  private let seconds = Mutex(0.0)

  func next() -> Timestamp {
    Timestamp(
      secondsSinceReferenceDate: seconds.withLock { seconds in
        seconds += 1
        return seconds
      })
  }
}

@Suite("Waiting requests for pushes", .timeLimit(.minutes(20)))
struct CourierPollTests {
  private let clock = SimulatedClock()
  private let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 1) })
  private let tasks = SerialTaskExecutor()

  private func courier(maximumQueues: Int = 2048) -> WebCourier {
    let wallClock = CountingClock()
    return WebCourier(
      clock: clock, wallClock: { wallClock.next() }, maximumQueues: maximumQueues,
      taskExecutor: tasks)
  }

  private func holder(_ device: String) -> SignedPath.Owner {
    SignedPath.Owner(
      account: "alice", device: device, container: "c", environment: .development,
      database: .private)
  }

  private func push(_ subscription: String) -> CloudPush {
    CloudPush(
      container: "c", database: .private, subscription: SubscriptionID(subscription),
      environment: .development)
  }

  /// A request of a device that waits for a push.
  private func waitingRequest(
    _ courier: WebCourier, _ device: String, besides others: Int = 0
  ) async -> Task<HTTPResponse, Never> {
    let owner = holder(device)
    let request = Task(executorPreference: tasks) { [server] in
      await courier.answer(owner, server, isExact: true)
    }
    // On the serial executor its timer sleeps only after the request waits.
    await clock.waitForSleepers(others + 1)
    return request
  }

  @Test("A queue with a waiting request is kept, however many others are made")
  func waitingRequestKeepsItsQueue() async throws {
    let courier = courier(maximumQueues: 2)
    let request = await waitingRequest(courier, "read")
    for number in 0..<5 { courier.open(holder("device \(number)"), server) }
    #expect(courier.queueCount == 2)
    try #require(!courier.open(holder("read"), server), "it is still there")
    server.controls.deliver(push("all"), to: "read")
    #expect(await !request.value.body.isEmpty)
    courier.close()
    server.close()
  }

  /// Proves S4, WS-71, WS-72.
  @Test("Of two requests of one device the newer gets the push, and the older waits on")
  func twoRequestsOfOneDeviceDoNotAlternate() async {
    let courier = courier()
    let older = await waitingRequest(courier, "one")
    let newer = await waitingRequest(courier, "one", besides: 1)
    #expect(courier.requestCount == 2, "the older one is not answered, to ask again at once")
    server.controls.deliver(push("all"), to: "one")
    #expect(await !newer.value.body.isEmpty)
    server.controls.deliver(push("more"), to: "one")
    #expect(courier.requestCount == 1 && courier.waitingCount == 1)
    clock.advance(by: .seconds(25))
    #expect(await older.value.body.isEmpty)
    let next = await courier.answer(holder("one"), server, isExact: true)
    #expect(!next.body.isEmpty && courier.waitingCount == 0)
    let (first, second) = (
      await waitingRequest(courier, "one"), await waitingRequest(courier, "one", besides: 1)
    )
    courier.close()
    for request in [first, second] { #expect(await request.value.body.isEmpty) }
    server.close()
    #expect(clock.sleeperCount == 0)
  }

  @Test("The time limit of a request that a push answered is cancelled")
  func answeredRequestLeavesNoTimer() async {
    let courier = courier()
    let request = await waitingRequest(courier, "one")
    #expect(clock.sleeperCount == 1)
    server.controls.deliver(push("all"), to: "one")
    #expect(await !request.value.body.isEmpty)
    #expect(clock.sleeperCount == 0)
    courier.close()
    server.close()
  }

  @Test("A request whose reminders can't be read is refused, and leaves no queue")
  func failedReminderLeavesNoQueue() async {
    let courier = courier()
    server.close()
    let answer = await courier.answer(holder("one"), server, isExact: true)
    #expect(answer.status == 503 && courier.queueCount == 0)
    courier.close()
  }

  @Test("A closed courier makes no queue")
  func closedCourierMakesNoQueue() {
    let courier = courier()
    #expect(courier.open(holder("one"), server))
    courier.close()
    #expect(!courier.open(holder("two"), server) && courier.queueCount == 0)
    server.close()
  }

  @Test("Equal pushes are queued once")
  func equalPushesAreQueuedOnce() {
    let courier = courier()
    courier.open(holder("one"), server)
    for _ in 0..<3 { server.controls.deliver(push("all"), to: "one") }
    #expect(courier.waitingCount == 1)
    server.controls.deliver(push("other"), to: "one")
    #expect(courier.waitingCount == 2)
    courier.close()
    server.close()
  }

  @Test("The push of a subscription that fires once has its text after the server removed it")
  func pushOfSpentSubscriptionHasItsText() async throws {
    let watched = QuerySubscription(
      query: Query(recordType: "Note"), zone: nil, options: [.firesOnRecordCreation, .firesOnce])
    let subscription = Subscription(
      id: SubscriptionID("once"), kind: .query(watched),
      notificationInfo: Subscription.NotificationInfo(alertBody: "A note"))
    let courier = courier()
    courier.open(holder("one"), server)
    let phone = server.device("phone", signedInAs: "alice")
    let note = RecordSave(id: RecordID(name: "n", zone: .default), type: "Note", changes: [])
    let requests: [CloudRequest] = [
      .modifySubscriptions(ModifySubscriptions(save: [subscription])),
      .modifyRecords(ModifyRecords(save: [note])),
    ]
    for (number, request) in requests.enumerated() {
      _ = try await phone.send(
        CloudCall(container: "c", database: .private, requestID: "\(number)", request: request))
    }
    let remaining = try server.pushes(ofSubscriptionsOf: "alice", container: "c", .development)
    #expect(remaining.isEmpty)
    let answer = await courier.answer(holder("one"), server, isExact: true)
    let push = try JSON(parsing: answer.body)
    #expect(push["ck"]?["qry"]?["rid"]?.string == "n")
    #expect(push["aps"]?["alert"]?["body"]?.string == "A note")
    // The log does not keep it.
    #expect(server.controls.pushes.allSatisfy { $0.push.spentInfo == nil })
    courier.close()
    server.close()
  }

  @Test("A push that comes while its reminder waits is given with its text")
  func pushReplacesItsReminder() async throws {
    let info = Subscription.NotificationInfo(alertBody: "A note")
    let subscriptions = ["all", "more"].map {
      Subscription(
        id: SubscriptionID($0), kind: .database(recordType: nil), notificationInfo: info)
    }
    _ = try await server.device("phone", signedInAs: "alice").send(
      CloudCall(
        container: "c", database: .private, requestID: "subscribe",
        request: .modifySubscriptions(ModifySubscriptions(save: subscriptions))))
    let courier = courier()
    let pushes = try server.pushes(
      ofSubscriptionsOf: "alice", container: "c", .development)
    try #require(pushes.count == 2)
    let reminder = await courier.answer(holder("one"), server, isExact: true)
    #expect(try JSON(parsing: reminder.body)["aps"]?["alert"] == nil)
    #expect(courier.waitingCount == 1)
    server.controls.deliver(pushes[1], to: "one")
    #expect(courier.waitingCount == 1)
    let answer = await courier.answer(holder("one"), server, isExact: true)
    #expect(try JSON(parsing: answer.body)["aps"]?["alert"] != nil)
    courier.close()
    server.close()
  }
}
