import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Control interface: what happens, as it happens")
struct ControlEventTests {
  /// The events in short: number, kind, and what it is about.
  private func summary(_ json: JSON) -> [String] {
    (json["events"]?.array ?? []).map { event in
      let content = event["request"] ?? event["push"] ?? event["administration"]
      let words = [
        event["kind"], content?["kind"], content?["outcome"], content?["code"],
        content?["device"], content?["fate"], content?["zone"], content?["account"],
      ]
      return "\(event["number"]?.integer ?? 0) "
        + words.compactMap { $0?.string }.joined(separator: " ")
    }
  }

  /// Proves S8.
  @Test("Requests, pushes and administration form one list")
  func eventListCombinesAllEvents() async throws {
    let world = ControlWorld()
    try await world.prepare()
    world.server.controls.dropPushes()
    world.server.controls.fail(with: .zoneBusy)
    try? await world.save("c", Fields())
    try await world.save("c", Fields())
    try world.server.controls.expireTokens(container: "c", account: "alice")
    let all = try await world.json("events")
    #expect(
      summary(all) == [
        "1 request modifyZones answered phone alice",
        "2 request modifySubscriptions answered tablet alice",
        "3 push tablet delivered", "4 request modifyRecords answered phone alice",
        "5 push tablet delivered", "6 request modifyRecords answered phone alice",
        "7 push tablet delivered", "8 request modifyRecords answered phone alice",
        "9 request modifyRecords failed zoneBusy phone alice", "10 push tablet dropped",
        "11 request modifyRecords answered phone alice", "12 administration alice",
      ])
    #expect(all["next"] == .integer(12) && all["missed"] == .bool(false))
    let rest = try await world.json("events?after=11")
    #expect(summary(rest) == ["12 administration alice"])
    #expect(await world.get("events?after=12") == #"200 {"events":[],"next":12,"missed":false}"#)
    // A number of another run of the server is answered at once, whatever the wait.
    let other = await world.get("events?after=99&wait=25")
    #expect(other == #"200 {"events":[],"next":12,"missed":true}"#)
  }

  /// Proves I22.
  @Test("The list is bounded, comes in pages and reports what it has dropped")
  func eventListIsBoundedAndReportsGaps() async throws {
    let world = ControlWorld()
    for number in 1...4_100 { try await world.send("\(number)", .fetchCurrentUser) }
    var after = 0
    var pages: [Int] = []
    var missed: [Bool] = []
    while after < 4_100 {
      let page = world.server.events(after: after, limit: 1_000)
      pages.append(page.events.count)
      missed.append(page.missed)
      #expect(page.events.map(\.number) == Array((page.next - page.events.count + 1)...page.next))
      after = page.next
    }
    #expect(pages == [1_000, 1_000, 100] && missed == [true, false, false])
    let answer = try await world.json("events?after=2000")
    #expect(answer["events"]?.array?.count == 500 && answer["missed"] == .bool(false))
    #expect(try await world.json("events?after=1999")["missed"] == .bool(true))
  }

  @Test("A wait ends by an event, by time, by cancellation or with the server")
  func eventWaitEndsByEventTimeOrCancellation() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for (name, expected) in [
      ("event", #"{"events":[{"number":9,"#), ("time", #"{"events":[],"next":9,"#),
      ("cancellation", #"{"events":[],"next":9,"#), ("end", #"{"events":[],"next":9,"#),
    ] {
      let after = world.server.lastEventNumber
      let wait = Task { await world.get("events?after=\(after)&wait=25") }
      await world.clock.waitForSleepers()
      switch name {
      case "event": try await world.send("x", .fetchCurrentUser)
      case "time": world.clock.advance(by: .seconds(25))
      case "cancellation": wait.cancel()
      default: world.server.close()
      }
      let answer = await wait.value
      #expect(answer.hasPrefix("200 \(expected)"), "\(name): \(answer)")
      #expect(world.clock.sleeperCount == 0, "\(name): nobody sleeps any more")
      #expect(world.server.eventWaiterCount == 0, "\(name): nobody waits any more")
    }
    #expect(await world.get("events?after=0&wait=25").contains(#""number":9,"#))
  }

  @Test("A waiting request gets an empty answer when the server stops listening")
  func stoppingServerEndsEventWaits() async throws {
    let world = ControlWorld()
    let isAnswered = Mutex(false)
    let wait = Task {
      let answer = await world.get("events?wait=25")
      isAnswered.withLock { $0 = true }
      return answer
    }
    // It may not wait yet when it is woken first.
    while !isAnswered.withLock({ $0 }) {
      world.server.wakeEventWaiters()
      await Task.yield()
    }
    #expect(await wait.value == #"200 {"events":[],"next":0,"missed":false}"#)
    #expect(world.clock.sleeperCount == 0 && world.server.eventWaiterCount == 0)
  }
}
