import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Testing

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

  /// Proves S4, WS-71, WS-72.
  @Test("A long poll ends by a push, a time limit, its end or another poll")
  func aLongPollEndsByPushTimeEndOrReplacement() async throws {
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
}
