import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of the schedule")
struct ScheduleStoryTests {
  /// Proves CE-162.
  @Test("Pushes that never stop do not keep an added change from being sent")
  func constantPushesDoNotDelaySends() {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.machine.serverChanged(now: story.now)
    story.run()
    story.save("a")
    story.log = []
    for _ in 0..<5 where !story.log.contains("> modifyRecords") {
      // The next push comes while the fetch for the one before is under way.
      story.now = story.now + .seconds(60)
      story.machine.serverChanged(now: story.now)
      story.now = story.now + .seconds(60)
      story.answer(FetchStoryTests.database([]))
    }
    #expect(story.told().contains("> modifyRecords"))
  }

  /// Proves CE-162.
  @Test("A zone that can't be read, with pushes that never stop, keeps no change from being sent")
  func unreadableZoneDoesNotDelaySends() {
    let zone = ZoneID(name: "A")
    var story = Story.signedIn(automatically: true)
    story.save("a")
    story.log = []
    for token in 1...5 as ClosedRange<UInt8> where !story.log.contains("> modifyRecords") {
      story.now = story.now + .seconds(60)
      story.machine.serverChanged(now: story.now)
      story.now = story.now + .seconds(60)
      story.answer(FetchStoryTests.database([zone], token))
      story.machine.serverChanged(now: story.now)
      story.now = story.now + .seconds(60)
      story.answer(.failure(CloudError(.permissionFailure, "")))
    }
    #expect(story.log.contains("> modifyRecords"), "\(story.log)")
  }

  /// Proves CE-163.
  @Test(
    "A change that is added while the server refuses sends waits for the back-off",
    arguments: [CloudError.Code.zoneBusy, .serviceUnavailable, .requestRateLimited])
  func addedChangesDoNotShortenTheBackoff(code: CloudError.Code) {
    var story = refused(code, times: 8)
    for number in 0..<20 {
      story.save("more\(number)")
      story.now = story.now + .seconds(1)
      story.run()
    }
    #expect(story.told().isEmpty)
    story.now = story.now + .seconds(300)
    story.run()
    story.answer(FetchStoryTests.database([]))
    story.answerRecords()
    #expect(story.machine.state.records.isEmpty)
    // After a success an added change is sent as soon as ever.
    story.log = []
    story.save("last")
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.told().last == "> modifyRecords")
  }

  /// Proves CE-163.
  @Test("A change that is added while the server can't be reached is sent soon")
  func addedChangesShortenTheWaitForTheNetwork() {
    var story = refused(.networkFailure, times: 8)
    story.save("more")
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.request != nil)
  }

  @Test("After a possible change of the account the old account's wait does not apply")
  func accountSignalEndsTheServersWait() {
    var story = Story.signedIn(automatically: true)
    story.answer(.failure(CloudError(.requestRateLimited, "", retryAfter: 3_600)))
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.request == nil)
    story.machine.accountSignalled(now: story.now)
    story.run()
    #expect(story.request?.request == .fetchCurrentUser)
  }

  @Test("The back-off of fetches begins again after a success")
  func fetchBackoffBeginsAgain() {
    var story = Story.signedIn(automatically: true)
    for _ in 0..<8 {
      story.answer(.failure(CloudError(.serviceUnavailable, "")))
      story.now = story.now + .seconds(301)
      story.run()
      #expect(story.told().last == "> fetchDatabaseChanges")
    }
    story.answer(FetchStoryTests.database([]))
    story.machine.serverChanged(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.serviceUnavailable, "")))
    #expect(story.request == nil)
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.told().last == "> fetchDatabaseChanges")
  }

  @Test("The back-off of one account does not apply to the next", arguments: [false, true])
  func nextAccountHasNoBackoff(isOfSends: Bool) {
    var story = isOfSends ? refused(.zoneBusy, times: 8) : Story.signedIn(automatically: true)
    if !isOfSends {
      for _ in 0..<8 {
        story.answer(.failure(CloudError(.zoneBusy, "")))
        story.now = story.now + .seconds(301)
        story.run()
      }
    }
    story.machine.accountSignalled(now: story.now)
    story.run()
    story.answer(.success(.currentUser(UserID("_b"))))
    #expect(story.told().contains("accountChange switchAccounts"))
    let busy = Result<CloudReply, CloudError>.failure(CloudError(.zoneBusy, ""))
    answerFirstFetch(&story, isOfSends ? FetchStoryTests.database([]) : busy)
    if isOfSends {
      story.save("b")
      story.now = story.now + .seconds(1)
      story.run()
      #expect(story.told().last == "> modifyRecords")
      story.answer(busy)
    }
    #expect(story.request == nil)
    story.now = story.now + .seconds(1)
    story.run()
    #expect(story.request != nil)
  }

  /// Answers the requests of an account's first fetch: that for the changes with `answer`.
  private func answerFirstFetch(_ story: inout Story, _ answer: Result<CloudReply, CloudError>) {
    let subscription = Subscription(
      id: SyncMachine.ownSubscription, kind: .database(recordType: nil))
    if case .fetchSubscriptions? = story.request?.request {
      story.answer(
        .success(.subscriptions([ItemResult(id: subscription.id, .success(subscription))])))
    }
    #expect(story.told().last == "> fetchDatabaseChanges")
    story.answer(answer)
  }

  /// A story in which the server answers fetches, and each send with `code`.
  private func refused(_ code: CloudError.Code, times: Int) -> Story {
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.save("a")
    var count = 0
    for _ in 0..<100 where count < times {
      story.now = story.now + .seconds(301)
      story.run()
      guard let request = story.request else { continue }
      if case .modifyRecords = request.request {
        count += 1
        story.answer(.failure(CloudError(code, "")))
      } else {
        story.answer(FetchStoryTests.database([]))
      }
    }
    #expect(count == times)
    story.log = []
    return story
  }
}
