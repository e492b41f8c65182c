import CloudProtocol
import Records
import SyncMachine
import Testing

/// The order and the moments of automatic operations and state updates.
@Suite("Rules of the schedule")
struct ScheduleRuleTests {
  private static let busy = CloudError(.serviceUnavailable, "")

  /// A story of automatic sync whose first fetch has ended.
  private static func started() -> Story {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.log = []
    return story
  }

  /// Answers the fetch that precedes a repeated send, if it is out.
  private static func answerFetch(_ story: inout Story) {
    guard case .fetchDatabaseChanges? = story.request?.request else { return }
    story.answer(FetchStoryTests.database([]))
  }

  // MARK: Order

  @Test("After a send, a fetch that is due precedes the next send")
  func dueFetchPrecedesNextSend() {
    var story = Self.started()
    story.save("a")
    story.advance(.seconds(1))
    story.answerRecords()
    story.log = []
    story.save("b")
    story.machine.serverChanged(now: story.now)
    story.advance(.seconds(1))
    #expect(story.told() == ["willFetchChanges", "> fetchDatabaseChanges"])
  }

  @Test("After a switch of accounts the first fetch precedes the sends")
  func firstFetchOfAccountPrecedesSends() {
    var story = Self.started()
    story.onEvent = { machine, event, now in
      guard case .accountChange = event else { return }
      machine.add([PendingChange(.save, Story.id("b"))], now: now)
    }
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.success(.currentUser(UserID("_b"))))
    #expect(
      story.told() == [
        "> fetchCurrentUser", "accountChange switchAccounts", "willFetchChanges",
        "> fetchSubscriptions",
      ])
  }

  @Test("A fetch that fails gives no send precedence over the fetch for a push")
  func failedFetchGivesNoPrecedence() {
    var story = Story.signedIn(automatically: true)
    story.save("a")
    story.now = story.now + .milliseconds(200)
    story.machine.serverChanged(now: story.now)
    story.answer(.failure(Self.busy))
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  @Test("Changes that a narrow manual send leaves out are sent without another call")
  func changesOutsideNarrowSendAreSent() {
    var story = Self.started()
    let other = RecordID(name: "b", zone: ZoneID(name: "Other"))
    story.save("a")
    story.machine.add([PendingChange(.save, other)], now: story.now)
    story.send(scope: .zones([Story.zone]))
    story.answerRecords()
    #expect(story.told().last == "done" && story.pending == ["save b"])
    story.advance(.milliseconds(99))
    #expect(story.request == nil)
    story.advance(.milliseconds(1))
    #expect(story.told().last == "> modifyRecords")
    story.answerRecords()
    #expect(story.pending.isEmpty)
  }

  // MARK: Back-off of sends

  @Test("A zone change that succeeds resets the back-off of sends; failed ones alone do not")
  func savedZoneResetsBackoff() {
    var story = Self.started()
    let (first, second) = (ZoneID(name: "A"), ZoneID(name: "B"))
    story.machine.add([PendingChange(.save, first)], now: story.now)
    for _ in 0..<6 {
      story.advance(.seconds(301))
      Self.answerFetch(&story)
      story.answerZones(["A": .zoneBusy])
    }
    story.advance(.seconds(1))
    #expect(story.request == nil, "the back-off is long")
    story.machine.add([PendingChange(.save, second)], now: story.now)
    story.advance(.seconds(1))
    Self.answerFetch(&story)
    story.answerZones(["A": .zoneBusy])
    #expect(story.machine.state.zones.pending.map(\.id) == [first] && story.request == nil)
    story.advance(.seconds(1))
    #expect(story.request != nil, "it is the first failure after a success")
  }

  @Test("The changes of a cancelled send are sent again after the back-off")
  func cancelledSendIsRepeatedAfterBackoff() {
    var story = Self.started()
    story.save("a")
    story.advance(.milliseconds(100))
    #expect(story.told().last == "> modifyRecords")
    story.machine.cancelOperations(waiter: Waiter(number: 1), now: story.now)
    story.run()
    #expect(story.pending == ["save a"])
    #expect(story.machine.next(now: story.now) == .wait(until: story.now + .seconds(1)))
    story.advance(.seconds(1))
    Self.answerFetch(&story)
    #expect(story.told().last == "> modifyRecords")
  }

  @Test("A change that is added after a cancelled send does not wait for the back-off")
  func addedChangeShortensWaitAfterCancellation() {
    var story = Self.started()
    story.save("a")
    story.advance(.milliseconds(100))
    story.machine.cancelOperations(waiter: Waiter(number: 1), now: story.now)
    story.run()
    story.save("b")
    story.advance(.milliseconds(100))
    #expect(story.request != nil)
  }

  @Test("A change that is added while only single items fail does not wait for the back-off")
  func addedChangeShortensWaitAfterFailedItems() {
    var story = Self.started()
    story.save("a")
    for _ in 0..<6 {
      story.advance(.seconds(301))
      Self.answerFetch(&story)
      story.answerRecords(["a": .zoneBusy])
    }
    story.advance(.seconds(1))
    #expect(story.request == nil, "the back-off is long")
    story.save("b")
    story.advance(.seconds(1))
    #expect(story.request != nil)
  }

  @Test("Rejected changes that the app gives up do not delay a change that it corrects")
  func rejectedChangesDelayNoOther() {
    var story = Self.started()
    for name in ["a", "b", "c", "d"] {
      story.save(name)
      story.advance(.seconds(1))
      Self.answerFetch(&story)
      story.answerRecords([name: .serverRejectedRequest])
    }
    #expect(story.pending.isEmpty)
    story.onEvent = { machine, event, now in
      guard case .sentRecordChanges(let sent) = event, sent.saved.first?.error != nil else {
        return
      }
      machine.add([PendingChange(.save, Story.id("e"))], now: now)
    }
    story.save("e")
    story.advance(.seconds(1))
    Self.answerFetch(&story)
    story.answerRecords(["e": .serverRecordChanged])
    #expect(story.pending == ["save e"] && story.request == nil)
    story.advance(.milliseconds(100))
    #expect(story.request != nil)
  }

  @Test("No request is sent before the end of the longest wait that the server asks for an item")
  func longestWaitOfItemsIsKept() {
    var story = Story.signedIn()
    story.save("a", "b")
    story.send()
    let results = [("a", 30.0), ("b", 20)].map { name, seconds in
      ItemResult<RecordID, Record>(
        id: Story.id(name), .failure(CloudError(.zoneBusy, "", retryAfter: seconds)))
    }
    story.answer(.success(.recordsModified(saved: results, deleted: [])))
    story.advance(.seconds(29))
    story.send(2)
    #expect(story.told().last == "failed requestRateLimited")
    story.advance(.seconds(1))
    story.send(3)
    #expect(story.told().last == "> modifyRecords")
  }

  /// Proves CE-179.
  @Test("A zone that the app adds again whenever it is refused is sent again after the back-off")
  func refusedZoneIsSentAgainAfterBackoff() {
    var story = Self.started()
    story.onEvent = { machine, event, now in
      guard case .sentDatabaseChanges(let sent) = event else { return }
      machine.add(sent.saved.map { PendingChange(.save, $0.id) }, now: now)
    }
    story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
    var attempts = 0
    for _ in 0..<3_600 {
      story.advance(.seconds(1))
      Self.answerFetch(&story)
      guard case .modifyZones? = story.request?.request else { continue }
      attempts += 1
      story.answerZones([Story.zone.name: .permissionFailure])
    }
    #expect((12...30).contains(attempts), "\(attempts) attempts in an hour")
  }

  @Test("A scheduled send for which the app has no batch is followed by no other send")
  func declinedSendIsNotRepeated() {
    var story = Self.started()
    story.batch = { _, _ in nil }
    story.save("a")
    story.advance(.milliseconds(100))
    #expect(story.told() == ["willSendChanges", "batch?", "didSendChanges", "done"])
    story.advance(.seconds(3_600))
    #expect(story.told() == [] && story.pending == ["save a"])
  }

  @Test("No send begins for a change that was removed before it was due")
  func removedChangeCausesNoSend() {
    var story = Self.started()
    story.save("a")
    story.machine.remove([PendingChange(.save, Story.id("a"))], now: story.now)
    story.advance(.seconds(1))
    #expect(story.told() == [])
    #expect(story.machine.next(now: story.now) == .wait(until: nil))
  }

  @Test("In manual mode an account that the server asks to wait for is checked after the wait")
  func manualAccountCheckFollowsWait() {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    story.answer(.failure(CloudError(.accountTemporarilyUnavailable, "", retryAfter: 30)))
    #expect(story.told().last == "failed accountTemporarilyUnavailable")
    let due = story.now + .seconds(30)
    #expect(story.machine.next(now: story.now) == .wait(until: due))
    story.advance(.seconds(30))
    #expect(story.told() == ["> fetchCurrentUser"])
  }

  @Test("An account that can be used again is followed by a fetch")
  func accountThatCanBeUsedAgainIsFetched() {
    var story = Self.started()
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.networkFailure, "")))
    story.advance(.seconds(1))
    #expect(story.told().last == "> fetchCurrentUser")
    story.answer(.success(.currentUser(Story.user)))
    #expect(story.told() == ["willFetchChanges", "> fetchDatabaseChanges"])
  }

  // MARK: Back-off of fetches

  @Test("A push during a fetch that fails is followed by a fetch without a wait")
  func pushDuringFailingFetchIsNotDelayed() {
    var story = Story.signedIn(automatically: true)
    story.machine.serverChanged(now: story.now)
    story.answer(.failure(Self.busy))
    #expect(story.told().last == "> fetchDatabaseChanges")
    story.answer(.failure(Self.busy))
    #expect(story.request == nil, "no push came meanwhile")
  }

  @Test(
    "The random number of a reply scales the back-off that it starts",
    arguments: [(0.0, 500), (1.0, 1_000)])
  func randomNumberScalesBackoff(jitter: Double, milliseconds: Int) throws {
    var story = Story.signedIn(automatically: true)
    let token = try #require(story.request).token
    story.machine.received(.failure(Self.busy), for: token, now: story.now, jitter: jitter)
    story.run()
    let due = story.now + .milliseconds(milliseconds)
    #expect(story.machine.next(now: story.now) == .wait(until: due))
  }

  @Test("A network that returned before a request was sent does not shorten its back-off")
  func earlierReturnOfNetworkKeepsBackoff() {
    var story = Self.started()
    story.machine.networkReturned(now: story.now)
    story.machine.serverChanged(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.networkFailure, "")))
    #expect(story.request == nil)
  }

  @Test("A server that refuses every request but that for the account is asked after the back-off")
  func knownAccountKeepsBackoff() {
    var story = Story.signedIn(automatically: true)
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(story.told().last == "> fetchCurrentUser")
    story.answer(.success(.currentUser(Story.user)))
    #expect(story.request == nil)
    story.advance(.seconds(1))
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  // MARK: Delays

  @Test("A push within 100 ms of another is followed by one fetch after 100 ms")
  func closePushesAreCombined() {
    var story = Self.started()
    story.machine.serverChanged(now: story.now)
    story.run()
    #expect(story.told().last == "> fetchDatabaseChanges", "the first push does not wait")
    story.answer(FetchStoryTests.database([]))
    story.now = story.now + .milliseconds(99)
    story.machine.serverChanged(now: story.now)
    story.run()
    #expect(story.request == nil)
    let due = story.now + .milliseconds(100)
    #expect(story.machine.next(now: story.now) == .wait(until: due))
    story.advance(.milliseconds(100))
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "done")
    // The last push was 100 ms ago.
    story.machine.serverChanged(now: story.now)
    story.run()
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  @Test("A state update follows the first change after 50 ms, and covers the changes meanwhile")
  func stateUpdateCoversChangesMeanwhile() {
    var story = Story.signedIn()
    let due = story.now + .milliseconds(50)
    story.save("a")
    story.run()
    #expect(story.log == [])
    #expect(story.machine.next(now: story.now) == .wait(until: due))
    story.advance(.milliseconds(30))
    story.save("b")
    story.advance(.milliseconds(19))
    #expect(story.log == [])
    story.advance(.milliseconds(1))
    #expect(story.log == ["stateUpdate"])
    story.advance(.seconds(1))
    #expect(story.log == ["stateUpdate"])
    #expect(story.machine.next(now: story.now) == .wait(until: nil))
  }

  @Test("The state after a failed send is delivered before its call returns")
  func stateOfFailedSendPrecedesItsEnd() {
    var story = Self.started()
    var given = SyncState()
    story.onEvent = { machine, event, _ in
      if case .stateUpdate = event { given = machine.state }
    }
    story.save("a")
    story.send()
    story.answerRecords(["a": .serverRecordChanged])
    #expect(story.log.suffix(2) == ["stateUpdate", "failed partialFailure"])
    #expect(given.needsFetch && given == story.machine.state)
  }

  @Test("A state update follows an account event without a delay")
  func stateUpdateFollowsAccountEvent() {
    var story = Story()
    story.signIn()
    #expect(story.log == ["> fetchCurrentUser", "accountChange signIn", "stateUpdate"])
  }

  @Test("A change that is added during the state update for a page has an update with a delay")
  func changeDuringUpdateHasDelay() {
    var story = Story.signedIn()
    var count = 0
    story.onEvent = { machine, event, now in
      guard case .stateUpdate = event else { return }
      count += 1
      if count == 1 { machine.add([PendingChange(.save, Story.id("a"))], now: now) }
    }
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    #expect(story.told().last == "> fetchZoneChanges" && count == 1)
    story.advance(.milliseconds(49))
    #expect(count == 1)
    story.advance(.milliseconds(1))
    #expect(count == 2)
  }

  @Test("A change that is added after an operation has a state update with a delay")
  func changeAfterOperationHasDelay() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([]))
    #expect(story.log.contains("stateUpdate"), "the one for the operation comes at once")
    story.log = []
    story.save("a")
    story.advance(.milliseconds(49))
    #expect(story.log == [])
    story.advance(.milliseconds(1))
    #expect(story.log == ["stateUpdate"])
  }
}
