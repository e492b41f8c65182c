import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of the fetch and of accounts")
struct FetchStoryTests {
  static func database(_ zones: [ZoneID], _ token: UInt8 = 1) -> Result<CloudReply, CloudError> {
    .success(
      .databaseChanges(
        DatabaseChangesPage(modified: zones, deleted: [], token: .at(token), moreComing: false)))
  }

  static func page(
    _ names: [String], _ token: UInt8, more: Bool = false, zone: ZoneID = Story.zone
  ) -> Result<CloudReply, CloudError> {
    .success(
      .zoneChanges(
        ZoneChangesPage(
          zone: zone,
          modified: names.map { Record(id: RecordID(name: $0, zone: zone), type: "Note") },
          deleted: [], token: .at(token), moreComing: more)))
  }

  /// Proves CE-13, CE-35, CE-36, CE-37, CE-104, E2.
  @Test("A fetch asks for zones, then for each zone's pages between its will and did events")
  func fetchListsZonesThenPages() {
    var story = Story.signedIn()
    story.fetch()
    #expect(story.told() == ["willFetchChanges", "> fetchDatabaseChanges"])
    story.answer(FetchStoryTests.database([Story.zone]))
    #expect(
      story.told() == ["zones [\"Notes\"] []", "willFetchZone Notes over", "> fetchZoneChanges"])
    story.answer(FetchStoryTests.page(["a"], 1, more: true))
    story.answer(FetchStoryTests.page(["b"], 2))
    #expect(
      story.told() == [
        "> fetchZoneChanges", "fetched [\"a\"] []", "fetched [\"b\"] []", "didFetchZone Notes",
        "didFetchChanges", "done",
      ])
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(2))
    #expect(story.machine.state.changedZones.isEmpty)
  }

  /// Proves CE-84, I10.
  @Test("A token moves only after the app returned from the page")
  func tokenAfterDelivery() {
    var story = Story.signedIn()
    story.onEvent = { machine, event, _ in
      if case .fetchedDatabaseChanges = event {
        #expect(machine.state.databaseToken == nil)
      }
      if case .fetchedZoneChanges = event {
        #expect(machine.state.zoneTokens[Story.zone] == nil)
      }
    }
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(FetchStoryTests.page(["a"], 1))
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(1))
  }

  /// Proves CE-103, CE-104, SC-118.
  @Test("After an expired token the zone is read again from its beginning")
  func zoneTokenExpired() {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    state.zoneTokens[Story.zone] = .at(9)
    var story = Story(state: state)
    story.signIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    #expect(story.told().contains("willFetchZone Notes over"))
    story.answer(FetchStoryTests.page(["a"], 3, more: true))
    // Cut off here it must begin again, so the token is not remembered yet.
    #expect(story.machine.state.zoneTokens[Story.zone] == nil)
    #expect(story.machine.state.expiredZones == [Story.zone])
    story.answer(FetchStoryTests.page([], 4))
    #expect(story.told().last == "done")
    #expect(story.machine.state.zoneTokens[Story.zone] == .at(4))
    #expect(story.machine.state.expiredZones.isEmpty)
  }

  /// Proves CE-105.
  @Test("An expired database token lists all zones again; one no longer listed is reported gone")
  func databaseTokenExpired() {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    state.zoneTokens[ZoneID(name: "Gone")] = .at(5)
    var story = Story(state: state)
    story.signIn()
    story.fetch()
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    story.answer(FetchStoryTests.database([Story.zone], 2))
    #expect(story.told().suffix(2) == ["zones [\"Notes\"] []", "> fetchZones"])
    let gone = ItemResult<ZoneID, Zone>(
      id: ZoneID(name: "Gone"), .failure(CloudError(.zoneNotFound, "")))
    story.answer(.success(.zones([gone])))
    #expect(story.told().contains("zones [] [\"Gone deleted\"]"))
  }

  /// Proves CE-40, CE-41.
  @Test("Prioritized zones are fetched first, and zones out of scope stay listed as unfetched")
  func prioritizedZonesAreFetchedFirst() {
    let zones = ["A", "B", "C"].map { ZoneID(name: $0) }
    var story = Story.signedIn()
    story.fetch(1, FetchOptions(scope: .allExcluding([zones[0]]), prioritizedZones: [zones[2]]))
    story.answer(FetchStoryTests.database(zones))
    story.answer(FetchStoryTests.page([], 1, zone: zones[2]))
    story.answer(FetchStoryTests.page([], 1, zone: zones[1]))
    let opened = story.told().filter { $0.hasPrefix("willFetchZone") }
    #expect(opened == ["willFetchZone C over", "willFetchZone B over"])
    #expect(story.machine.state.changedZones == [zones[0]])
  }

  /// Proves CE-80, CE-93, CE-94.
  @Test("A nil state reports the sign-in before the first send, and added changes stay")
  func signInPrecedesFirstSend() {
    var story = Story(automatically: false)
    story.save("a")
    story.machine.start(now: story.now)
    story.send()
    story.answer(.success(.currentUser(Story.user)))
    #expect(
      story.told().starts(with: ["> fetchCurrentUser", "accountChange signIn", "willSendChanges"]))
    story.answerRecords()
    #expect(story.pending.isEmpty)
  }

  /// Proves CE-90, CE-96, E2, I13, I14.
  @Test(
    "A switch with a request in flight: did-events come, late answers are ignored, all is clear")
  func switchInFlight() {
    var story = Story.signedIn()
    story.save("a", "b")
    story.send()
    let late = story.request
    story.log = []
    story.machine.accountSignalled(now: story.now)
    story.run()
    #expect(
      story.told() == [
        "abandon", "didSendChanges", "failed operationCancelled", "> fetchCurrentUser",
      ])
    story.answer(.success(.currentUser(UserID("_b"))))
    #expect(story.told() == ["accountChange switchAccounts"])
    #expect(story.pending.isEmpty && story.machine.state.user == UserID("_b"))
    if let late {
      story.machine.received(
        .success(.recordsModified(saved: [], deleted: [])), for: late.token, now: story.now,
        jitter: 0)
    }
    story.run()
    #expect(story.told().isEmpty && story.machine.stage == .idle)
  }

  /// Proves CE-90, CE-95.
  @Test("A sign-out clears pending changes, and a manual call throws notAuthenticated")
  func signOutClearsPendingChanges() {
    var story = Story.signedIn()
    story.save("a")
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(story.told().contains("accountChange signOut") && story.pending.isEmpty)
    story.fetch()
    story.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(story.told().last == "failed notAuthenticated")
  }

  /// Proves CE-16, CE-21, I14, I17.
  @Test("After an interruption at any step events stay paired, and no call waits forever")
  func interruptedFetchKeepsEventsPaired() {
    for step in 0..<14 {
      for interruption in ["cancel", "account", "stop"] {
        var story = Story.signedIn()
        story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
        story.save("a")
        var waiting = script(&story, steps: step)
        switch interruption {
        case "cancel":
          story.machine.cancelOperations(waiter: Waiter(number: 9), now: story.now)
        case "account": story.machine.accountSignalled(now: story.now)
        default: waiting -= story.machine.stop().count
        }
        story.run()
        if interruption == "account" {
          story.answer(.success(.currentUser(Story.user)))
          // What waited for its turn begins now, and fails.
          if story.request != nil { story.answer(.failure(CloudError(.networkFailure, ""))) }
        }
        let told = story.told()
        let ends = told.filter { $0 == "done" || $0.hasPrefix("failed") }.count
        for (will, did) in [
          ("willSendChanges", "didSendChanges"), ("willFetchChanges", "didFetchChanges"),
          ("willFetchZone Notes", "didFetchZone Notes"),
        ] where interruption != "stop" {
          let opened = told.filter { $0.hasPrefix(will) }.count
          let closed = told.filter { $0.hasPrefix(did) }.count
          #expect(opened == closed, "\(interruption) at \(step): \(told)")
        }
        let expected = waiting + (interruption == "cancel" ? 1 : 0)
        #expect(ends == expected, "\(interruption) at \(step): \(told)")
        let illegal = story.machine.transitions.filter { !$0.isLegal }
        #expect(illegal.isEmpty, "\(illegal)")
      }
    }
  }

  /// Proves CE-107.
  @Test("Without a subscription for a temporary reason the fetch is repeated automatically")
  func missingSubscriptionIsRetried() {
    var state = SyncState()
    state.user = Story.user
    var story = Story(automatically: true, state: state)
    story.signIn()
    story.answer(.failure(CloudError(.networkFailure, "")))
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().contains { $0.hasPrefix("didFetch") })
    #expect(story.request == nil)
    let retry = SyncStatus.Wait(reason: .retry, until: story.now + .seconds(1))
    #expect(story.machine.status(now: story.now).wait == retry)
    // Long after, nothing has happened: it asks for the subscription again.
    story.now = story.now + .seconds(3600)
    story.run()
    #expect(story.told().contains { $0.hasPrefix("> fetchSubscriptions") })
  }

  /// Begins a send and a fetch and answers the first `steps` requests; answers how many wait.
  private func script(_ story: inout Story, steps: Int) -> Int {
    story.send(1)
    story.fetch(2)
    for _ in 0..<steps {
      switch story.request?.request {
      case .modifyZones:
        let zone = ItemResult<ZoneID, Zone>(id: Story.zone, .success(Zone(id: Story.zone)))
        story.answer(.success(.zonesModified(saved: [zone], deleted: [])))
      case .modifyRecords: story.answerRecords()
      case .fetchDatabaseChanges: story.answer(FetchStoryTests.database([Story.zone]))
      case .fetchZoneChanges: story.answer(FetchStoryTests.page(["x"], 7))
      case .fetchCurrentUser, .fetchZones, .fetchRecords, .fetchSubscriptions,
        .modifySubscriptions, .queryRecords, .resolveShares, .acceptShares, .findUsers,
        .uploadAsset, .downloadAsset, nil:
        break
      }
    }
    return 2
  }
}
