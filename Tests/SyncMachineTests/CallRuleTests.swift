import CloudProtocol
import Records
import SyncMachine
import Testing

/// Calls and replies at moments at which they must have no effect, or one of their own.
@Suite("Rules of calls and late replies")
struct CallRuleTests {
  @Test("A second start has no effect")
  func secondStartHasNoEffect() {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.log = []
    story.machine.start(now: story.now)
    story.run()
    #expect(story.told() == [] && story.machine.stage == .idle)
  }

  // MARK: Late replies

  @Test("A late reply to an interrupted send does not settle the account check")
  func lateReplyDoesNotSettleAccountCheck() throws {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    let late = try #require(story.request)
    story.machine.accountSignalled(now: story.now)
    story.run()
    #expect(story.request?.request == .fetchCurrentUser)
    story.log = []
    story.machine.received(
      .success(.recordsModified(saved: [], deleted: [])), for: late.token, now: story.now,
      jitter: 0)
    story.run()
    #expect(story.told() == [] && story.machine.stage == .checkingAccount)
    story.answer(.success(.currentUser(Story.user)))
    #expect(story.machine.stage == .idle && story.pending == ["save a"])
  }

  @Test("A late reply to a cancelled send does not settle the next send")
  func lateReplyDoesNotSettleNextSend() throws {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    let late = try #require(story.request)
    story.machine.cancelOperations(waiter: Waiter(number: 2), now: story.now)
    story.run()
    story.send(3)
    let next = try #require(story.request)
    #expect(next.token != late.token && next.requestID != late.requestID)
    story.log = []
    story.machine.received(
      .failure(CloudError(.serverRejectedRequest, "")), for: late.token, now: story.now, jitter: 0)
    story.run()
    #expect(story.told() == [] && story.machine.stage == .sendingRecords)
    story.answerRecords()
    #expect(story.told() == ["sent [\"a\"][]", "didSendChanges", "done"])
  }

  // MARK: Queued calls

  @Test("A queued fetch is joined by calls with the same options only")
  func fetchWithOtherOptionsIsNotJoined() {
    var story = Story.signedIn()
    story.fetch(1)
    story.fetch(2, FetchOptions(scope: .zones([Story.zone])))
    story.fetch(3)
    for _ in 0..<3 { story.answer(FetchStoryTests.database([])) }
    let told = story.told()
    #expect(told.filter { $0 == "willFetchChanges" }.count == 3, "\(told)")
    #expect(told.filter { $0 == "done" }.count == 3 && story.request == nil)
  }

  @Test("A queued send is joined by calls with the same scope only")
  func sendWithOtherScopeIsNotJoined() {
    var story = Story.signedIn()
    story.save("a")
    story.send(1)
    story.send(2, scope: .zones([Story.zone]))
    story.send(3)
    story.answerRecords()
    let told = story.told()
    #expect(told.filter { $0 == "willSendChanges" }.count == 3, "\(told)")
    #expect(told.filter { $0 == "done" }.count == 3)
  }

  // MARK: Cancellation

  @Test("A cancellation during the last event of a fetch leaves its events and its outcome")
  func cancellationDuringLastEventOfFetch() {
    var story = Story.signedIn()
    story.onEvent = { machine, event, now in
      guard case .didFetchChanges = event else { return }
      machine.cancelOperations(waiter: Waiter(number: 9), now: now)
    }
    story.fetch()
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().suffix(3) == ["didFetchChanges", "done", "done"])
  }

  @Test("A cancellation during the last event of a send leaves its events and its outcome")
  func cancellationDuringLastEventOfSend() {
    var story = Story.signedIn()
    story.onEvent = { machine, event, now in
      guard case .didSendChanges = event else { return }
      machine.cancelOperations(waiter: Waiter(number: 9), now: now)
    }
    story.save("a")
    story.send()
    story.answerRecords()
    #expect(story.told().suffix(3) == ["didSendChanges", "done", "done"])
  }

  @Test("A cancellation during the event that ends a zone's fetch reports that end once")
  func cancellationDuringEndOfZone() {
    var story = Story.signedIn()
    story.onEvent = { machine, event, now in
      guard case .didFetchZoneChanges = event else { return }
      machine.cancelOperations(waiter: Waiter(number: 9), now: now)
    }
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone, ZoneID(name: "Other")]))
    story.log = []
    story.answer(FetchStoryTests.page(["a"], 1))
    #expect(
      story.told() == [
        "fetched [\"a\"] []", "didFetchZone Notes", "didFetchChanges",
        "failed operationCancelled", "done",
      ])
  }
}
