import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of a network that comes back")
struct NetworkReturnStoryTests {
  /// A story of automatic sync in which a send, and the fetch before its repetition, failed until
  /// the back-off is long.
  private func failing(_ error: CloudError) -> Story {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.save("a")
    story.now = story.now + .seconds(1)
    story.run()
    for _ in 0..<8 {
      story.answer(.failure(error))
      if story.request == nil {
        story.now = story.now + .seconds(300)
        story.run()
      }
    }
    story.answer(.failure(error))
    story.log = []
    return story
  }

  /// Proves CE-122.
  @Test(
    "A back-off that the network caused ends when it comes back",
    arguments: [CloudError.Code.networkUnavailable, .networkFailure])
  func networkBackoffEnds(code: CloudError.Code) {
    var story = failing(CloudError(code, ""))
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.request == nil, "the back-off is long")
    story.machine.networkReturned(now: story.now)
    story.run()
    #expect(story.told().contains("> fetchDatabaseChanges"))
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "> modifyRecords")
  }

  /// Proves CE-122.
  @Test("A request that fails after the network came back is repeated once at once")
  func requestFromBeforeIsRepeatedOnce() {
    let error = CloudError(.networkUnavailable, "")
    var story = failing(error)
    story.now = story.now + .seconds(300)
    story.run()
    #expect(story.request != nil)
    story.machine.networkReturned(now: story.now)
    story.answer(.failure(error))
    #expect(story.request != nil, "it was sent before the network came back")
    story.answer(.failure(error))
    #expect(story.request == nil, "it was sent afterwards, so the back-off begins again")
  }

  /// Proves CE-122.
  @Test("A request that fails each time keeps its back-off, though the network returns meanwhile")
  func failingRequestKeepsItsBackoff() {
    let error = CloudError(.networkFailure, "")
    var story = failing(error)
    for _ in 0..<3 {
      story.now = story.now + .seconds(300)
      story.run()
      // Another transfer of the same request reaches the server each time.
      for attempt in 0..<2 {
        #expect(story.request != nil, "attempt \(attempt)")
        story.machine.networkReturned(now: story.now)
        story.answer(.failure(error))
      }
      #expect(story.request == nil, "one repetition without back-off")
    }
    story.now = story.now + .seconds(300)
    story.run()
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "> modifyRecords")
    story.machine.networkReturned(now: story.now)
    story.answer(.failure(error))
    #expect(story.request != nil, "a fetch succeeded since: the send has its own repetition")
  }

  /// Proves CE-122.
  @Test("After a success, another return of the network allows another repetition")
  func eachReturnAllowsOneRepetition() {
    var story = Story.signedIn(automatically: true)
    for round in 0..<2 {
      story.machine.networkReturned(now: story.now)
      story.answer(.failure(CloudError(.networkFailure, "")))
      #expect(story.request != nil, "round \(round): it was sent before the network came back")
      story.answer(FetchStoryTests.database([]))
      #expect(story.request == nil)
      story.now = story.now + .seconds(1)
      story.machine.serverChanged(now: story.now)
      story.run()
    }
  }

  /// Proves CE-122.
  @Test("A send of which only items failed for the network goes out when it comes back")
  func itemsThatFailedForNetworkGoOutAtOnce() {
    for isZone in [false, true] {
      var story = Story.signedIn(automatically: true)
      story.answer(FetchStoryTests.database([]))
      if isZone {
        story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
      } else {
        story.save("a")
      }
      story.advance(.milliseconds(100))
      if isZone {
        story.answerZones([Story.zone.name: .networkUnavailable])
      } else {
        story.answerRecords(["a": .networkUnavailable])
      }
      #expect(story.told().last == "failed partialFailure" && story.request == nil)
      story.machine.networkReturned(now: story.now)
      story.run()
      #expect(story.told().last == "> fetchDatabaseChanges", "zone: \(isZone)")
    }
  }

  /// Proves CE-163.
  @Test(
    "A change that is added while the server can't be reached ends the wait of the fetch, too",
    arguments: [
      (CloudError.Code.networkFailure, true), (CloudError.Code.serviceUnavailable, false),
    ])
  func addedChangeEndsWaitOfFetch(code: CloudError.Code, isSoon: Bool) {
    var story = failing(CloudError(code, ""))
    #expect(story.machine.state.needsFetch && story.request == nil)
    story.save("b")
    story.advance(.milliseconds(99))
    #expect(story.request == nil)
    story.advance(.milliseconds(1))
    #expect((story.told().last == "> fetchDatabaseChanges") == isSoon)
    guard isSoon else { return }
    story.answer(FetchStoryTests.database([]))
    #expect(story.told().last == "> modifyRecords")
  }

  /// Proves CE-122.
  @Test("A send that the network stopped goes out when the network comes back")
  func sendGoesOutAtOnce() {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.save("a")
    story.now = story.now + .seconds(1)
    story.run()
    story.answer(.failure(CloudError(.networkUnavailable, "")))
    story.log = []
    story.machine.networkReturned(now: story.now)
    story.run()
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  /// Proves CE-123.
  @Test("A wait that the server asked for, and a back-off after other failures, stay")
  func otherWaitsStay() {
    for error in [
      CloudError(.serviceUnavailable, ""), CloudError(.zoneBusy, ""),
      CloudError(.networkFailure, "", retryAfter: 100_000),
      CloudError(.requestRateLimited, "", retryAfter: 100_000),
    ] {
      var story = failing(error)
      for _ in 0..<3 {
        story.machine.networkReturned(now: story.now)
        story.run()
      }
      #expect(story.request == nil, "\(error.code): \(story.told())")
    }
  }

  /// Proves CE-122.
  @Test("The question who is signed in is asked again when the network comes back")
  func accountIsAskedForAgain() {
    var story = Story(automatically: true)
    story.machine.start(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.networkUnavailable, "")))
    #expect(story.request == nil)
    story.log = []
    story.machine.networkReturned(now: story.now)
    story.run()
    #expect(story.told() == ["> fetchCurrentUser"])
  }
}
