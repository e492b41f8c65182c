import CloudProtocol
import CloudSyncTesting
import Records
import Synchronization
import Testing

@testable import LoopbackServer

@Suite("Faults on demand")
struct FaultTests {
  /// Proves S5, SC-155.
  @Test("The next requests in a scope fail with a code, and nothing is changed")
  func failFaultFailsScopedRequests() async throws {
    let world = World()
    try await world.prepare()
    world.controls.fail(
      next: 2, with: .zoneBusy, retryAfter: 30, in: RequestScope(kind: .modifyRecords))
    world.controls.fail(next: 1, with: .networkFailure, in: RequestScope(device: "tablet"))
    #expect(await outcome(of: who, on: world.phone) == "ok")
    do {
      _ = try await world.phone.send(saving("a"))
      Issue.record("it was answered")
    } catch {
      #expect(error.code == .zoneBusy && error.retryAfter == 30)
    }
    #expect(await outcome(of: who, on: world.tablet) == "networkFailure")
    #expect(await outcome(of: saving("a"), on: world.tablet) == "zoneBusy")
    #expect(try world.names() == [])
    #expect(await outcome(of: saving("a"), on: world.tablet) == "ok")
    #expect(try world.names() == ["a"])
    #expect(world.takeHeard() == ["phone all"])
    world.controls.fail(next: 5, with: .internalError)
    world.controls.fail(next: 0, with: .internalError)
    #expect(world.controls.remainingFaultCount == 1)
    world.controls.clear()
    #expect(await outcome(of: who, on: world.phone) == "ok")
    world.close()
  }

  /// Proves I22.
  @Test("The counts of requests by device are bounded, and the sums of all devices are exact")
  func requestCountsAreBounded() async throws {
    let world = World()
    try await world.prepare()
    _ = await outcome(of: who, on: world.phone)
    for number in 1...25_000 {
      let faults = world.controls.receive(
        who, device: "page \(number)", account: "alice", now: world.server.clock())
      world.controls.finish(faults.entry, .answered, now: world.server.clock())
    }
    // Each 10,001st device leaves the sum of those before it.
    #expect(world.controls.state.withLock { $0.counts.count } == 5_003)
    #expect(world.controls.requestCount() == 25_001)
    // Beyond 20,000 the oldest 10,000 are forgotten.
    #expect(world.controls.requests.count == 15_001)
    #expect(world.controls.requests.last?.device == "page 25000")
    #expect(world.controls.requestCount(in: RequestScope(device: "page 25000")) == 1)
    world.close()
  }

  @Test("The log of pushes is bounded, and has the last ones")
  func pushLogIsBounded() {
    let server = LoopbackServer()
    for number in 1...20_001 {
      let push = CloudPush(
        container: "c", database: .private, subscription: SubscriptionID("\(number)"))
      server.pushDispatcher.deliver(push, to: "nobody")
    }
    #expect(server.controls.pushes.count == 10_001)
    #expect(server.controls.pushes.last?.push.subscription.rawValue == "20001")
    server.close()
  }

  /// Proves S5, SC-155.
  @Test("A lost answer is a failure for the client; the server's change stays, a repeat succeeds")
  func lostAnswerKeepsServerChange() async throws {
    for code in [CloudError.Code.networkFailure, .serverResponseLost] {
      let world = World()
      try await world.prepare()
      world.controls.dropAnswers(as: code, in: RequestScope(kind: .modifyRecords))
      #expect(await outcome(of: saving("a"), on: world.phone) == "\(code)")
      #expect(try world.names() == ["a"])
      #expect(world.takeHeard() == ["tablet all"])
      let log = try world.server.changeLog(of: zoneA, container: "c", account: "alice")
      #expect(await outcome(of: saving("a"), on: world.phone) == "ok")
      #expect(try world.server.changeLog(of: zoneA, container: "c", account: "alice") == log)
      #expect(world.takeHeard() == [])
      world.close()
    }
  }

  /// Proves S5, SC-155.
  @Test("A delay takes exactly its time on the injected clock")
  func delayFaultUsesInjectedClock() async throws {
    let world = World()
    try await world.prepare()
    world.controls.delay(by: 5, in: RequestScope(kind: .modifyRecords))
    async let late = outcome(of: saving("late"), on: world.phone)
    await world.clock.waitForSleepers(1)
    #expect(await outcome(of: saving("soon"), on: world.phone) == "ok")
    world.clock.advance(by: .seconds(4))
    #expect(try world.names() == ["soon"])
    #expect(world.controls.openRequestCount == 1)
    world.clock.advance(by: .seconds(1))
    #expect(await late == "ok")
    #expect(try world.names() == ["late", "soon"])
    _ = world.takeHeard()

    for seconds in [Double.infinity, 1e30] {
      world.controls.delay(by: seconds)
      async let answer = outcome(of: who, on: world.phone)
      await world.clock.waitForSleeper(of: .seconds(86_400))
      world.clock.advance(by: .seconds(86_400))
      #expect(await answer == "ok")
    }
    world.controls.delay(by: -.infinity)
    #expect(await outcome(of: who, on: world.phone) == "ok")
    _ = world.takeHeard()

    world.controls.delay(by: 5)
    let task = Task { await outcome(of: saving("never"), on: world.phone) }
    await world.clock.waitForSleepers(1)
    task.cancel()
    #expect(await task.value == "operationCancelled")
    #expect(try world.names() == ["late", "soon"])
    world.close()
  }

  /// Proves S5, SC-155.
  @Test("Requests are held before and after the commit, and continue in order")
  func heldRequestsContinueInOrder() async throws {
    let world = World()
    try await world.prepare()
    world.controls.hold(next: 2, in: RequestScope(kind: .modifyRecords))
    async let first = outcome(of: saving("a"), on: world.phone)
    await world.controls.waitForHeldRequests(1)
    async let second = outcome(of: saving("b"), on: world.tablet)
    await world.controls.waitForHeldRequests(2)
    #expect(world.controls.heldRequests.map(\.device) == ["phone", "tablet"])
    #expect(try world.names() == [])
    world.controls.release(1)
    #expect(await first == "ok")
    #expect(try world.names() == ["a"])
    #expect(world.controls.heldRequests.map(\.device) == ["tablet"])
    world.controls.release()
    #expect(await second == "ok")
    #expect(world.takeHeard() == ["tablet all", "phone all"])

    world.controls.hold(at: .afterCommit, in: RequestScope(device: "phone"))
    async let third = outcome(of: saving("c"), on: world.phone)
    await world.controls.waitForHeldRequests(1, in: RequestScope(device: "phone"))
    #expect(try world.names() == ["a", "b", "c"], "it is there before the answer")
    #expect(world.takeHeard() == ["tablet all"])
    #expect(world.controls.remainingFaultCount == 1, "all later ones are to be held")
    world.controls.hold(in: RequestScope(device: "tablet"))
    world.controls.fail(with: .zoneBusy, in: RequestScope(device: "phone"))
    world.controls.release(in: RequestScope(device: "phone"))
    #expect(await third == "ok")
    #expect(world.controls.remainingFaultCount == 2, "only holds within the scope end")
    #expect(await outcome(of: who, on: world.phone) == "zoneBusy")
    #expect(await outcome(of: who, on: world.phone) == "ok")
    world.controls.release()
    #expect(world.controls.remainingFaultCount == 0)
    world.close()
  }

  @Test("A task cancelled during or before a hold leaves it at once")
  func cancelledTaskLeavesHold() async throws {
    let world = World()
    try await world.prepare()
    for point in HoldPoint.allCases {
      world.controls.hold(at: point)
      let task = Task { await outcome(of: saving("a"), on: world.phone) }
      await world.controls.waitForHeldRequests(1)
      task.cancel()
      #expect(await task.value == "operationCancelled")
      #expect(try world.names() == (point == .beforeCommit ? [] : ["a"]))
      world.controls.release()
    }
    world.controls.hold()
    let waiting = Task { await world.controls.waitForHeldRequests(5) }
    waiting.cancel()
    await waiting.value
    let early = Task {
      await Task.yield()
      withUnsafeCurrentTask { $0?.cancel() }
      return await outcome(of: who, on: world.phone)
    }
    #expect(await early.value == "operationCancelled")
    world.controls.clear()

    // The code in between cancels the very task that is to be held next.
    world.controls.runAfterCommit { _ in withUnsafeCurrentTask { $0?.cancel() } }
    world.controls.hold(next: 1, at: .afterCommit)
    let between = Task { await outcome(of: saving("b"), on: world.phone) }
    #expect(await between.value == "operationCancelled")
    #expect(try world.names() == ["a", "b"])
    _ = world.takeHeard()
    world.close()
  }

  /// Proves SC-155.
  @Test("Code runs between the commit and the answer, and may use the server itself")
  func codeRunsBetweenCommitAndAnswer() async throws {
    let world = World()
    try await world.prepare()
    let seen = Mutex<[String]>([])
    world.controls.runAfterCommit(in: RequestScope(kind: .modifyRecords, device: "phone")) {
      entry in
      let names = (try? world.names()) ?? []
      seen.withLock { $0 = names + ["\(entry.kind)", "\(entry.itemCount)"] }
      #expect(await outcome(of: saving("b"), on: world.tablet) == "ok")
    }
    #expect(await outcome(of: saving("a"), on: world.phone) == "ok")
    #expect(seen.withLock { $0 } == ["a", "modifyRecords", "1"])
    #expect(try world.names() == ["a", "b"])
    #expect(world.takeHeard() == ["tablet all", "phone all"])
    world.close()
  }

  /// Proves SC-155, SC-156.
  @Test("Pushes are dropped, held, released and forged")
  func pushesAreDroppedHeldAndForged() async throws {
    let world = World()
    try await world.prepare()
    world.controls.dropPushes(to: "tablet")
    #expect(await outcome(of: saving("a"), on: world.phone) == "ok")
    #expect(await outcome(of: saving("b"), on: world.phone) == "ok")
    #expect(world.takeHeard() == ["tablet all"], "the first was dropped")
    world.controls.holdPushes()
    #expect(await outcome(of: saving("c"), on: world.phone) == "ok")
    #expect(await outcome(of: saving("d"), on: world.tablet) == "ok")
    #expect(world.takeHeard() == [] && world.controls.heldPushCount == 2)
    world.controls.releasePushes()
    #expect(world.takeHeard() == ["tablet all", "phone all"])
    let stale = CloudPush(container: "c", database: .private, subscription: SubscriptionID("old"))
    world.controls.deliver(stale, to: "other")
    world.controls.deliver(stale, to: "nobody")
    #expect(world.takeHeard() == ["other old"])
    #expect(
      world.controls.pushes.map(\.fate)
        == [.dropped, .delivered, .held, .held] + Array(repeating: .delivered, count: 4))
    world.close()
  }

  @Test("The log counts the items that a request saves and deletes")
  func itemsOfRequestsAreCounted() async throws {
    let world = World()
    try await world.prepare()
    let subscriptions = ["x", "y"].map {
      Subscription(id: SubscriptionID($0), kind: .database(recordType: nil))
    }
    let zones = ["Y", "Z"].map { ZoneID(name: $0) }
    for (number, request) in [
      CloudRequest.modifySubscriptions(
        ModifySubscriptions(save: subscriptions, delete: [SubscriptionID("z")])),
      .fetchSubscriptions(nil), .fetchSubscriptions(["x", "y"].map { SubscriptionID($0) }),
      .modifyZones(ModifyZones(save: zones, delete: [ZoneID(name: "W")])), .fetchZones(zones),
    ].enumerated() {
      _ = await outcome(of: call("items \(number)", request), on: world.phone)
    }
    #expect(world.controls.requests.map(\.itemCount) == [3, 1, 2, 3, 2])
    _ = world.takeHeard()
    world.close()
  }

  /// Proves SC-156.
  @Test("Requests are logged and counted by kind and device, with their outcomes")
  func requestsAreLoggedWithOutcomes() async throws {
    let world = World()
    try await world.prepare()
    world.controls.fail(with: .zoneBusy, in: RequestScope(kind: .fetchCurrentUser))
    _ = await outcome(of: who, on: world.tablet)
    let records = ["a", "b"].map { Record(id: RecordID(name: $0, zone: zoneA), type: "T") }
    let request = CloudRequest.modifyRecords(
      ModifyRecords(
        save: records.map { RecordSave($0) }, delete: [RecordID(name: "c", zone: zoneA)]
      ))
    _ = await outcome(of: call("m", request), on: world.phone)
    world.phone.isOnline = false
    #expect(await outcome(of: who, on: world.phone) == "networkUnavailable")
    let log = world.controls.requests
    #expect(log.map(\.kind) == [.fetchCurrentUser, .modifyRecords])
    #expect(log.map(\.itemCount) == [1, 3])
    #expect(log.map(\.outcome) == [.failed(.zoneBusy), .answered])
    #expect(log.map(\.account) == ["alice", "alice"])
    #expect(log.map(\.number) == [3, 4])
    #expect(log.map(\.time.secondsSinceReferenceDate) == [1_000, 1_000])
    #expect(world.controls.requestCount() == 2)
    #expect(world.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 1)
    #expect(world.controls.requestCount(in: RequestScope(device: "tablet")) == 1)
    #expect(
      world.controls.requestCount(in: RequestScope(kind: .modifyRecords, device: "tablet")) == 0)
    world.controls.forgetRequests()
    #expect(world.controls.requests == [] && world.controls.requestCount() == 0)
    _ = world.takeHeard()
    world.close()
  }

  @Test("A request held while the log is cleared completes")
  func heldRequestSurvivesLogClearing() async throws {
    let world = World()
    try await world.prepare()
    world.controls.hold(next: 1)
    async let held = outcome(of: who, on: world.phone)
    await world.controls.waitForHeldRequests(1)
    world.controls.forgetRequests()
    #expect(await outcome(of: who, on: world.tablet) == "ok")
    world.controls.release()
    #expect(await held == "ok")
    #expect(world.controls.requests.map(\.outcome) == [.answered])
    world.close()
  }

  /// Proves SC-155.
  @Test("Administrators change zones, tokens, quota and limits; unknown accounts are an error")
  func administratorControlsZonesTokensAndQuota() async throws {
    let world = World()
    try await world.prepare()
    let controls = world.controls
    try controls.purgeZone(zoneA, container: "c", account: "alice")
    #expect(world.takeHeard() == ["phone all", "tablet all"])
    #expect(try world.server.zones(container: "c", account: "alice") == [])
    #expect(
      try world.server.deletedZones(container: "c", account: "alice")
        == [ZoneDeletion(zone: zoneA, reason: .purged)])
    try controls.setQuota(0, of: "carol")
    #expect(try world.server.accounts().map(\.name) == ["alice", "carol"])
    var limits = ServerLimits()
    limits.throttle = .init(requests: 1, seconds: 60)
    controls.setLimits(limits)
    #expect(await outcome(of: who, on: world.phone) == "ok")
    #expect(await outcome(of: who, on: world.phone) == "serviceUnavailable")
    for act in [
      { try controls.deleteZone(zoneA, container: "c", account: "nobody") },
      { try controls.expireTokens(container: "c", account: "nobody") },
      { _ = try world.server.records(in: zoneA, container: "c", account: "nobody") },
    ] as [() throws -> Void] {
      do {
        try act()
        Issue.record("an unknown account was found")
      } catch { #expect((error as? CloudError)?.code == .unknownItem) }
    }
    do {
      try controls.deleteZone(zoneA, container: "c", account: "alice")
      Issue.record("a purged zone was deleted")
    } catch { #expect(error.code == .userDeletedZone) }
    world.close()
  }
}
