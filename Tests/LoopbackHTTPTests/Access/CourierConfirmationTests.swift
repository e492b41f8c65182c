import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Pushes that a device has confirmed, or not", .timeLimit(.minutes(20)))
struct CourierConfirmationTests {
  private final class Time: Sendable {
    let seconds = Mutex(0.0)
    var now: Timestamp { Timestamp(secondsSinceReferenceDate: seconds.withLock { $0 }) }
    func set(_ time: Double) { seconds.withLock { $0 = time } }
  }

  private let time = Time()
  private let clock = SimulatedClock()
  private let tasks = SerialTaskExecutor()
  private let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 1) })

  private func courier() -> WebCourier {
    WebCourier(clock: clock, wallClock: { [time] in time.now }, taskExecutor: tasks)
  }

  private func holder(_ device: String) -> SignedPath.Owner {
    SignedPath.Owner(
      account: "alice", device: device, container: "c", environment: .development,
      database: .private)
  }

  private func deliver(_ subscription: String) {
    let push = CloudPush(
      container: "c", database: .private, subscription: SubscriptionID(subscription))
    server.controls.deliver(push, to: "one")
  }

  /// The subscription of the push in a response; empty without one.
  private func subscription(_ response: HTTPResponse) throws -> String {
    guard !response.body.isEmpty else { return "" }
    let push = try JSON(parsing: response.body)
    return try #require((push["ck"]?["met"] ?? push["ck"]?["fet"])?["sid"]?.string)
  }

  /// The subscription of the next push of the device, which waits already.
  private func next(_ courier: WebCourier) async throws -> String {
    try subscription(await courier.answer(holder("one"), server, isExact: false))
  }

  private func waitingRequest(_ courier: WebCourier) async -> Task<HTTPResponse, Never> {
    let owner = holder("one")
    let request = Task(executorPreference: tasks) { [server] in
      await courier.answer(owner, server, isExact: false)
    }
    await clock.waitForSleepers(1)
    return request
  }

  @Test("A device that asks again within five seconds has confirmed its push")
  func pushIsConfirmedWithinFiveSeconds() async throws {
    for (delay, isRepeated) in [(0.0, false), (5, false), (5.5, true)] {
      let courier = courier()
      courier.open(holder("one"), server)
      time.set(100)
      deliver("first")
      try #require(try await next(courier) == "first")
      time.set(100 + delay)
      deliver("second")
      if isRepeated { try #require(try await next(courier) == "first", "after \(delay) s") }
      try #require(try await next(courier) == "second", "after \(delay) s")
      #expect(courier.waitingCount == 0)
      courier.close()
    }
    server.close()
  }

  @Test("A push that a waiting request got is repeated like one that waited")
  func pushOfWaitingRequestIsRepeated() async throws {
    let courier = courier()
    courier.open(holder("one"), server)
    let request = await waitingRequest(courier)
    deliver("first")
    #expect(try subscription(await request.value) == "first")
    time.set(60)
    deliver("second")
    try #require(try await next(courier) == "first")
    try #require(try await next(courier) == "second")
    courier.close()
    server.close()
  }

  @Test("An unconfirmed push that waits again is given once")
  func waitingPushIsNotRepeated() async throws {
    let courier = courier()
    courier.open(holder("one"), server)
    deliver("first")
    try #require(try await next(courier) == "first")
    deliver("first")
    time.set(60)
    try #require(try await next(courier) == "first")
    #expect(courier.waitingCount == 0)
    courier.close()
    server.close()
  }

  @Test("A queue is unread since the end of its last request")
  func queueIsUnreadSinceEndOfRequest() async throws {
    let courier = courier()
    courier.open(holder("one"), server)
    time.set(200)
    let request = await waitingRequest(courier)
    time.set(290)
    clock.advance(by: .seconds(25))
    #expect(try subscription(await request.value) == "")
    time.set(550)
    courier.open(holder("two"), server)
    #expect(courier.queueCount == 2)
    time.set(591)
    courier.open(holder("three"), server)
    #expect(courier.queueCount == 2)
    courier.close()
    server.close()
  }
}
