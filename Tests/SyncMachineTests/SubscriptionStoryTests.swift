import CloudProtocol
import Records
import SyncMachine
import Testing

/// What an engine does about its subscription when the server no longer knows its database token.
@Suite("Stories of the subscription after an expired database token")
struct SubscriptionStoryTests {
  /// A fetch of an app that knows a subscription, whose database token has just expired.
  private func expired(automatically: Bool = true, isServerReset: Bool) -> Story {
    var state = SyncState()
    state.user = Story.user
    state.databaseToken = .at(1)
    state.subscription = SyncMachine.ownSubscription
    var story = Story(automatically: automatically, state: state)
    story.signIn()
    if !automatically { story.fetch() }
    #expect(story.told().last == "> fetchDatabaseChanges")
    story.answer(
      .failure(
        CloudError(.changeTokenExpired, "", userDidResetEncryptedData: isServerReset)))
    return story
  }

  private static func found(_ ids: [SubscriptionID]) -> Result<CloudReply, CloudError> {
    .success(
      .subscriptions(
        ids.map {
          ItemResult(id: $0, .success(Subscription(id: $0, kind: .database(recordType: nil))))
        }
      ))
  }

  private static func saved(_ id: SubscriptionID) -> Result<CloudReply, CloudError> {
    .success(
      .subscriptionsModified(
        saved: [
          ItemResult(id: id, .success(Subscription(id: id, kind: .database(recordType: nil))))
        ], deleted: []))
  }

  /// Proves CE-160.
  @Test(
    "A subscription that the server no longer has is made again before the zones are listed",
    arguments: [false, true])
  func aSubscriptionThatIsGoneIsMadeAgain(isServerReset: Bool) {
    var story = expired(isServerReset: isServerReset)
    #expect(story.told() == ["> fetchSubscriptions"])
    #expect(story.machine.state.subscription == nil, "it is not known to be there any more")
    story.answer(Self.found([]))
    #expect(story.told() == ["> modifySubscriptions"])
    story.answer(Self.saved(SyncMachine.ownSubscription))
    #expect(story.told() == ["> fetchDatabaseChanges"])
    #expect(story.machine.state.subscription == SyncMachine.ownSubscription)
    story.answer(FetchStoryTests.database([]))
    #expect(story.told() == ["didFetchChanges", "done"])
    #expect(story.machine.transitions.filter { !$0.isLegal }.isEmpty)
  }

  /// Proves CE-160.
  @Test("A subscription that the server still has is kept", arguments: [false, true])
  func aSubscriptionThatIsThereIsKept(isServerReset: Bool) {
    var story = expired(isServerReset: isServerReset)
    story.answer(Self.found([SyncMachine.ownSubscription]))
    #expect(story.told() == ["> fetchSubscriptions", "> fetchDatabaseChanges"])
    #expect(story.machine.state.subscription == SyncMachine.ownSubscription)
  }

  @Test("A subscription that the app names is looked for once")
  func namedSubscriptionIsLookedForOnce() {
    let id = SubscriptionID("own")
    var state = SyncState()
    state.user = Story.user
    var story = Story(automatically: true, state: state, subscription: id)
    story.signIn()
    #expect(story.request?.request == .fetchSubscriptions([id]))
    story.answer(Self.found([id]))
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "done")
    story.machine.serverChanged(now: story.now)
    story.run()
    #expect(story.told() == ["willFetchChanges", "> fetchDatabaseChanges"])
  }

  @Test("A subscription to a single record type is not used: it does not tell of other changes")
  func aSubscriptionOfOneTypeIsNotUsed() {
    var story = expired(isServerReset: false)
    let narrow = Subscription(id: SubscriptionID("notes"), kind: .database(recordType: "Note"))
    story.answer(.success(.subscriptions([ItemResult(id: narrow.id, .success(narrow))])))
    #expect(story.told().last == "> modifySubscriptions")
  }

  @Test("A subscription that can't be saved for now is looked for again later, and saved")
  func aRefusedSubscriptionIsSavedLater() {
    var story = expired(isServerReset: false)
    let id = SyncMachine.ownSubscription
    story.answer(Self.found([]))
    story.answer(
      .success(
        .subscriptionsModified(
          saved: [ItemResult(id: id, .failure(CloudError(.zoneBusy, "")))], deleted: [])))
    story.answer(FetchStoryTests.database([]))
    #expect(story.machine.state.subscription == nil)
    story.now = story.now + .seconds(3_600)
    story.run()
    #expect(story.told().last == "> fetchSubscriptions")
    story.answer(Self.found([]))
    story.answer(Self.saved(id))
    #expect(story.machine.state.subscription == id)
  }

  /// Proves CE-160.
  @Test("While the subscription can't be looked for, the fetch goes on and a later one looks again")
  func theSearchIsRepeatedAfterAFailure() throws {
    var story = expired(isServerReset: true)
    story.answer(.failure(CloudError(.networkFailure, "")))
    #expect(story.told() == ["> fetchSubscriptions", "> fetchDatabaseChanges"])
    story.answer(FetchStoryTests.database([]))
    story.now = story.now + .seconds(3600)
    story.run()
    #expect(story.told().last == "> fetchSubscriptions")
  }

  @Test("A search for the subscription that is rejected is repeated by the next fetch, not before")
  func rejectedSearchIsNotRepeatedAlone() {
    var story = expired(isServerReset: false)
    story.answer(.failure(CloudError(.serverRejectedRequest, "")))
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "done")
    story.advance(.seconds(3_600))
    #expect(story.told().isEmpty)
    story.machine.serverChanged(now: story.now)
    story.run()
    #expect(story.told().last == "> fetchSubscriptions")
  }

  @Test("No subscription is made while the server can't say whether there is one")
  func unknownSubscriptionIsNotMade() {
    var story = expired(isServerReset: false)
    let id = SyncMachine.ownSubscription
    story.answer(
      .success(.subscriptions([ItemResult(id: id, .failure(CloudError(.internalError, "")))])))
    #expect(story.told() == ["> fetchSubscriptions", "> fetchDatabaseChanges"])
    #expect(story.machine.state.subscription == nil)
  }

  @Test("A wait that the server asks for during the search for the subscription ends the fetch")
  func waitDuringSearchEndsFetch() {
    var story = expired(isServerReset: false)
    story.answer(.failure(CloudError(.requestRateLimited, "", retryAfter: 30)))
    #expect(
      story.told() == ["> fetchSubscriptions", "didFetchChanges", "failed requestRateLimited"])
    #expect(story.request == nil)
  }

  @Test("The back-off of the search for the subscription begins again after a success")
  func theBackoffOfTheSearchBeginsAgain() {
    var story = expired(isServerReset: false)
    for _ in 0..<8 {
      #expect(story.told().last == "> fetchSubscriptions")
      story.answer(.failure(CloudError(.serviceUnavailable, "")))
      story.answer(FetchStoryTests.database([]))
      story.now = story.now + .seconds(301)
      story.run()
    }
    story.answer(Self.found([SyncMachine.ownSubscription]))
    story.answer(FetchStoryTests.database([]))
    story.machine.serverChanged(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.changeTokenExpired, "")))
    #expect(story.told().last == "> fetchSubscriptions")
    story.answer(.failure(CloudError(.serviceUnavailable, "")))
    story.answer(FetchStoryTests.database([]))
    #expect(story.request == nil)
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.told().last == "> fetchSubscriptions")
  }

  /// Proves CE-160.
  @Test("An app that is killed before the answer looks for the subscription after its relaunch")
  func theSearchIsRepeatedAfterARelaunch() throws {
    let killed = expired(isServerReset: true)
    let kept = try SyncState(decoding: killed.machine.state.encoded())
    #expect(kept.databaseToken == .at(1), "the token stays until the zones are listed")
    var story = Story(automatically: true, state: kept)
    story.signIn()
    #expect(story.told().last == "> fetchSubscriptions")
  }

  /// Proves CE-160.
  @Test("In manual mode no subscription is looked for or made", arguments: [false, true])
  func manualModeMakesNone(isServerReset: Bool) {
    var story = expired(automatically: false, isServerReset: isServerReset)
    #expect(story.told() == ["> fetchDatabaseChanges"])
  }
}
