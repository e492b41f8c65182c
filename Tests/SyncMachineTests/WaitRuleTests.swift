import CloudProtocol
import Records
import SyncMachine
import Testing

/// Waits that the server asks for in the middle of an operation.
@Suite("Rules of the server's waits")
struct WaitRuleTests {
  private static let second = ZoneID(name: "Second")

  /// An error that asks for a wait of 30 seconds.
  private static func error(
    _ code: CloudError.Code, isServerReset: Bool = false
  ) -> CloudError {
    CloudError(code, "", retryAfter: 30, userDidResetEncryptedData: isServerReset)
  }

  /// A story of manual sync that begins with `state` and a fetch.
  private static func fetching(_ state: SyncState) -> Story {
    var story = Story(state: state)
    story.signIn()
    story.fetch()
    story.log = []
    return story
  }

  /// Expects that nothing is under way, and goes on to the end of the wait; before it a call fails.
  private func expectWait(_ story: inout Story) {
    #expect(story.request == nil)
    story.advance(.seconds(29))
    story.fetch(8)
    #expect(story.told().last == "failed requestRateLimited")
    story.advance(.seconds(1))
  }

  // MARK: Sends

  /// Proves CE-178.
  @Test("A wait that comes with limitExceeded is not kept when the request is divided")
  func waitOfDividedRequestIsNotKept() {
    var story = Story.signedIn()
    story.machine.add([Story.zone, Self.second].map { PendingChange(.save, $0) }, now: story.now)
    story.save("a", "b")
    story.send()
    story.answer(.failure(Self.error(.limitExceeded)))
    for _ in 0..<2 { story.answerZones() }
    story.answer(.failure(Self.error(.limitExceeded)))
    for _ in 0..<2 { story.answerRecords() }
    #expect(story.told().last == "done" && story.pending == [])
    story.fetch(2)
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  /// Proves CE-178.
  @Test(
    "A wait that comes with limitExceeded is kept when the request can't be divided",
    arguments: [false, true])
  func waitOfSingleChangeIsKept(isZone: Bool) {
    var story = Story.signedIn()
    if isZone {
      story.machine.add([PendingChange(.save, Self.second)], now: story.now)
    } else {
      story.save("a")
    }
    story.send()
    story.answer(.failure(Self.error(.limitExceeded)))
    #expect(story.told().last == "failed limitExceeded")
    expectWait(&story)
    story.fetch(3)
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  /// Proves CE-178.
  @Test("A refused zone whose error asks for a wait ends the send before its records")
  func waitOfRefusedZoneEndsSend() {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, Self.second)], now: story.now)
    story.save("a")
    story.send()
    let refused = ItemResult<ZoneID, Zone>(
      id: Self.second, .failure(Self.error(.permissionFailure)))
    story.answer(.success(.zonesModified(saved: [refused], deleted: [])))
    #expect(
      story.told().suffix(3) == ["sentDatabaseChanges", "didSendChanges", "failed partialFailure"])
    #expect(story.pending == ["save a"])
    expectWait(&story)
    story.send(3)
    #expect(story.told().last == "> modifyRecords")
  }

  // MARK: Fetches

  /// Proves CE-178.
  @Test(
    "A wait that comes with the error of a subscription ends the fetch before its next request")
  func waitOfSubscriptionEndsFetch() {
    let id = SubscriptionID("own")
    for (code, isSaved) in [
      (CloudError.Code.internalError, false), (.unknownItem, false), (.zoneBusy, true),
    ] {
      var state = SyncState()
      state.user = Story.user
      var story = Story(automatically: true, state: state, subscription: id)
      story.signIn()
      #expect(story.told().last == "> fetchSubscriptions")
      let result = ItemResult<SubscriptionID, Subscription>(id: id, .failure(Self.error(code)))
      if isSaved {
        story.answer(.success(.subscriptions([])))
        #expect(story.told() == ["> modifySubscriptions"])
        story.answer(.success(.subscriptionsModified(saved: [result], deleted: [])))
      } else {
        story.answer(.success(.subscriptions([result])))
      }
      let told = story.told()
      #expect(told.first == "didFetchChanges" && story.request == nil, "\(code): \(told)")
      story.advance(.seconds(29))
      #expect(story.request == nil, "\(code)")
      story.advance(.seconds(1))
      #expect(story.told().last == "> fetchSubscriptions", "\(code)")
    }
  }

  /// Proves CE-178.
  @Test("A wait that comes with an expired database token ends the fetch; the next one starts over")
  func waitOfExpiredDatabaseTokenEndsFetch() {
    for isServerReset in [false, true] {
      var state = SyncState()
      state.user = Story.user
      state.databaseToken = .at(1)
      state.zoneTokens[Story.zone] = .at(5)
      var story = Self.fetching(state)
      let expired = Self.error(.changeTokenExpired, isServerReset: isServerReset)
      story.answer(.failure(expired))
      #expect(story.told() == ["didFetchChanges", "failed requestRateLimited"])
      expectWait(&story)
      story.fetch(3)
      guard case .fetchDatabaseChanges(let request)? = story.request?.request else {
        Issue.record("the list of zones is not read")
        continue
      }
      #expect((request.since == nil) == !isServerReset)
      if isServerReset {
        // Without a wait this time.
        story.answer(
          .failure(CloudError(.changeTokenExpired, "", userDidResetEncryptedData: true)))
      }
      story.answer(FetchStoryTests.database([], 2))
      let told = story.told()
      if isServerReset {
        #expect(told.contains("zones [] [\"Notes encryptedDataReset\"]"), "\(told)")
      } else {
        #expect(told.last == "> fetchZones", "\(told)")
      }
    }
  }

  /// Proves CE-178.
  @Test("A wait that comes with a zone's expired token ends the fetch; the next one starts over")
  func waitOfExpiredZoneTokenEndsFetch() {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    state.zoneTokens[Story.zone] = .at(9)
    var story = Self.fetching(state)
    story.answer(FetchStoryTests.database([Story.zone], 2))
    story.answer(.failure(Self.error(.changeTokenExpired)))
    #expect(
      story.told().suffix(3) == [
        "didFetchZone Notes requestRateLimited", "didFetchChanges", "failed requestRateLimited",
      ])
    expectWait(&story)
    story.fetch(3)
    story.answer(FetchStoryTests.database([], 3))
    #expect(story.told().suffix(2) == ["willFetchZone Notes over", "> fetchZoneChanges"])
    story.answer(FetchStoryTests.page(["a"], 4, more: true))
    #expect(story.machine.state.zoneTokens[Story.zone] == nil, "it is not complete")
  }

  /// Proves CE-178.
  @Test("A wait that comes with a question for too many zones is not kept when it is divided")
  func waitOfDividedQuestionIsNotKept() {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    for zone in [Story.zone, Self.second] { state.zoneTokens[zone] = .at(5) }
    var story = Self.fetching(state)
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    story.answer(FetchStoryTests.database([], 2))
    #expect(story.told().last == "> fetchZones")
    story.answer(.failure(Self.error(.limitExceeded)))
    for zone in [Story.zone, Self.second] {
      let gone = ItemResult<ZoneID, Zone>(id: zone, .failure(CloudError(.zoneNotFound, "")))
      story.answer(.success(.zones([gone])))
    }
    #expect(story.told().last == "done" && story.machine.state.knownZones.isEmpty)
    story.fetch(3)
    #expect(story.told().last == "> fetchDatabaseChanges")
  }
}
