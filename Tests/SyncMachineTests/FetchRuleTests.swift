import CloudProtocol
import Records
import SyncMachine
import Testing

/// Rules of the fetch and of accounts that no other story is about.
@Suite("Rules of the fetch")
struct FetchRuleTests {
  /// Proves CE-27.
  @Test("At its start automatic sync fetches first and then sends pending changes")
  func automaticSyncFetchesBeforeSending() {
    var state = SyncState()
    state.user = Story.user
    state.subscription = SyncMachine.ownSubscription
    state.records.add(PendingChange(.save, Story.id("a")))
    var story = Story(automatically: true, state: state)
    story.signIn()
    #expect(story.told().suffix(2) == ["willFetchChanges", "> fetchDatabaseChanges"])
    story.answer(FetchStoryTests.database([]))
    story.now = story.now + .seconds(1)
    story.run()
    #expect(
      story.told() == ["didFetchChanges", "done", "willSendChanges", "batch?", "> modifyRecords"])
  }

  /// Proves CE-42.
  @Test("The error of one zone is in its did-event, and the other zones are still fetched")
  func zoneErrorStopsNoOtherZone() {
    let zones = ["A", "B"].map { ZoneID(name: $0) }
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database(zones))
    story.answer(.failure(CloudError(.zoneBusy, "")))
    story.answer(FetchStoryTests.page(["b"], 1, zone: zones[1]))
    #expect(
      story.told().suffix(7) == [
        "didFetchZone A zoneBusy", "willFetchZone B over", "> fetchZoneChanges",
        "fetched [\"b\"] []", "didFetchZone B", "didFetchChanges", "failed partialFailure",
      ])
    #expect(story.machine.state.changedZones == [zones[0]], "it is still to be fetched")
  }

  @Test("A zone that a narrow fetch left out after a push is read without another push")
  func zoneOutsideANarrowScopeIsReadLater() {
    let zones = ["A", "B"].map { ZoneID(name: $0) }
    var story = Story.signedIn(automatically: true)
    // The fetch of the start.
    story.answer(FetchStoryTests.database([]))
    story.machine.serverChanged(now: story.now)
    story.fetch(1, FetchOptions(scope: .zones([zones[0]])))
    story.answer(FetchStoryTests.database(zones, 2))
    story.answer(FetchStoryTests.page(["a"], 3, zone: zones[0]))
    #expect(story.told().suffix(2) == ["didFetchChanges", "done"])
    #expect(story.machine.state.changedZones == [zones[1]] && story.request == nil)
    story.now = story.now + .seconds(3_600)
    story.run()
    story.answer(FetchStoryTests.database([], 4))
    story.answer(FetchStoryTests.page(["b"], 5, zone: zones[1]))
    #expect(story.told().contains("fetched [\"b\"] []"))
    #expect(story.machine.state.changedZones.isEmpty && story.request == nil)
  }

  @Test("A scheduled fetch whose zones the app leaves out is followed by no other fetch")
  func narrowedScheduledFetchIsNotRepeated() {
    var story = Story.signedIn(automatically: true)
    story.options = FetchOptions(scope: .zones([]))
    story.answer(FetchStoryTests.database([Story.zone]))
    #expect(story.told().suffix(2) == ["didFetchChanges", "done"])
    story.advance(.seconds(3_600))
    #expect(story.told() == [] && story.request == nil)
    #expect(story.machine.state.changedZones == [Story.zone])
  }

  @Test("A zone is fetched first under each of its names")
  func zoneIsPrioritizedUnderEitherName() {
    let zones = ["A", "B"].map { ZoneID(name: $0) }
    for owner in [ZoneID.currentOwner, Story.user.rawValue] {
      var story = Story.signedIn()
      let second = ZoneID(name: "B", owner: owner)
      story.fetch(1, FetchOptions(prioritizedZones: [second]))
      story.answer(FetchStoryTests.database(zones))
      #expect(story.told().suffix(2) == ["willFetchZone B over", "> fetchZoneChanges"], "\(owner)")
    }
  }

  /// Proves CE-180.
  @Test(
    "The first fetch of a zone keeps the token of each page, also after its first page failed",
    arguments: [false, true])
  func firstFetchKeepsTokensAfterFailure(isCancelled: Bool) {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    if isCancelled {
      story.machine.cancelOperations(waiter: Waiter(number: 9), now: story.now)
      story.run()
    } else {
      story.answer(.failure(CloudError(.networkFailure, "")))
    }
    #expect(story.machine.state.expiredZones.isEmpty && story.request == nil)
    story.fetch(2)
    story.answer(FetchStoryTests.database([], 2))
    #expect(story.told().contains("willFetchZone Notes over"))
    story.answer(FetchStoryTests.page(["a"], 3, more: true))
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(3))
    #expect(story.machine.state.expiredZones.isEmpty)
  }

  /// Proves CE-180.
  @Test("Before the first page of a zone the app gets a state with which that zone starts over")
  func stateUpdatePrecedesFirstPage() {
    var story = Story.signedIn()
    var given = SyncState()
    var pages = 0
    story.onEvent = { machine, event, _ in
      if case .stateUpdate = event { given = machine.state }
      guard case .fetchedZoneChanges = event else { return }
      pages += 1
      #expect(given.expiredZones == [Story.zone])
    }
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    #expect(given.expiredZones.isEmpty)
    story.answer(FetchStoryTests.page(["a"], 1, more: true))
    #expect(pages == 1 && given.expiredZones.isEmpty)
  }

  @Test("A zone that leaves the scope half read is not reported as completely read")
  func zoneThatLeavesTheScopeIsNotComplete() {
    let zones = ["A", "B"].map { ZoneID(name: $0) }
    var story = Story.signedIn()
    story.fetch(1)
    story.answer(FetchStoryTests.database(zones, 2))
    story.options = FetchOptions(scope: .zones([zones[1]]))
    story.answer(FetchStoryTests.page(["a"], 3, more: true, zone: zones[0]))
    story.answer(FetchStoryTests.page(["b"], 4, zone: zones[1]))
    let told = story.told()
    #expect(told.contains("didFetchZone A operationCancelled"), "\(told)")
    #expect(told.contains("didFetchZone B"))
    #expect(story.machine.state.changedZones == [zones[0]] && story.request == nil)
  }

  /// Proves CE-44.
  @Test("A fetch asked for during a fetch runs after it, and equal calls that wait are one")
  func fetchDuringFetch() {
    var story = Story.signedIn()
    for number in 1...3 { story.fetch(UInt64(number)) }
    for _ in 0..<2 { story.answer(FetchStoryTests.database([])) }
    let told = story.told()
    #expect(told.filter { $0 == "willFetchChanges" }.count == 2)
    #expect(told.filter { $0 == "done" }.count == 2 && story.request == nil, "\(told)")
  }

  /// Proves CE-91.
  @Test("What the app adds while it is told of the account stays pending")
  func addedInAccountChange() {
    for answer in ["_a", "_b"] {
      var state = SyncState()
      if answer == "_b" { state.user = Story.user }
      state.records.add(PendingChange(.save, Story.id("old")))
      var story = Story(state: state)
      story.onEvent = { machine, event, now in
        guard case .accountChange = event else { return }
        machine.add([PendingChange(.save, Story.id("new"))], now: now)
      }
      story.machine.start(now: story.now)
      story.run()
      story.answer(.success(.currentUser(UserID(answer))))
      let kept = answer == "_b" ? ["save new"] : ["save old", "save new"]
      #expect(story.pending == kept, "\(answer)")
    }
  }
}
