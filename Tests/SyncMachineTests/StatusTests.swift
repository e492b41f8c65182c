import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("What a machine tells of itself")
struct StatusTests {
  @Test("The status of a send counts pending, in-flight, completed and failed changes")
  func sendStatusCountsChanges() {
    var story = Story.signedIn()
    story.save("a", "b", "c")
    var status = story.machine.status(now: story.now)
    #expect(status.phase == .idle && status.pendingRecords == 3 && status.wait == nil)
    story.batch = { machine, _ in
      let first = machine.state.records.prefix(2, in: .all)
      return first.isEmpty
        ? nil : RecordBatch(saves: first.map { RecordSave(id: $0.id, type: "Note", changes: []) })
    }
    story.send()
    status = story.machine.status(now: story.now)
    #expect(status.phase == .sending && status.pendingRecords == 1 && status.recordsInFlight == 2)
    #expect(status.progress?.doneRecords == 0 && status.progress?.remainingRecords == 3)
    story.answerRecords(["b": .serverRejectedRequest])
    status = story.machine.status(now: story.now)
    #expect(status.phase == .idle && status.pendingRecords == 1 && status.progress == nil)
    #expect(status.lastFailure?.code == .partialFailure && status.lastFailure?.phase == .sending)
    #expect(status.lastSend == nil)
    story.now = Moment(.seconds(5))
    story.send()
    status = story.machine.status(now: story.now)
    #expect(status.progress?.remainingRecords == 1)
    story.answerRecords()
    status = story.machine.status(now: story.now)
    #expect(status.lastFailure == nil && status.lastSend == story.now)
    #expect(status.pendingRecords == 0 && status.recordsInFlight == 0)
  }

  @Test("The status of a fetch counts records and zones")
  func fetchStatusCountsRecordsAndZones() {
    var story = Story.signedIn()
    story.fetch()
    #expect(story.machine.status(now: story.now).phase == .fetching)
    story.answer(FetchStoryTests.database([Story.zone, ZoneID(name: "Other")]))
    var progress = story.machine.status(now: story.now).progress
    #expect(progress?.doneZones == 0 && progress?.remainingZones == 2)
    #expect(progress?.remainingRecords == nil)
    story.answer(FetchStoryTests.page(["x", "y"], 3))
    progress = story.machine.status(now: story.now).progress
    #expect(progress?.doneZones == 1 && progress?.remainingZones == 1)
    #expect(progress?.doneRecords == 2)
    story.answer(.failure(CloudError(.networkFailure, "")))
    let status = story.machine.status(now: story.now)
    #expect(status.phase == .idle && status.lastFailure?.phase == .fetching)
  }

  @Test("The progress of a send counts the zones and records of its earlier requests")
  func sendProgressCountsEarlierRequests() {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
    story.save("a", "b", "c")
    story.batch = { machine, context in
      guard var batch = Story.everythingPending(machine, context) else { return nil }
      batch.saves = Array(batch.saves.prefix(2))
      return batch
    }
    story.send()
    var progress = story.machine.status(now: story.now).progress
    #expect(progress?.doneZones == 0 && progress?.remainingZones == 1)
    story.answerZones()
    progress = story.machine.status(now: story.now).progress
    #expect(progress?.doneZones == 1 && progress?.remainingZones == 0)
    #expect(progress?.doneRecords == 0 && progress?.remainingRecords == 3)
    story.answerRecords()
    progress = story.machine.status(now: story.now).progress
    #expect(progress?.doneRecords == 2 && progress?.remainingRecords == 1)
    #expect(progress?.doneZones == 1)
  }

  @Test("The progress of a fetch counts deletions as well as modifications")
  func fetchProgressCountsDeletions() {
    var story = Story.signedIn()
    story.fetch()
    story.answer(FetchStoryTests.database([Story.zone]))
    let page = ZoneChangesPage(
      zone: Story.zone, modified: [Record(id: Story.id("a"), type: "Note")],
      deleted: [RecordDeletion(id: Story.id("b"), type: "Note")], token: .at(1), moreComing: true)
    story.answer(.success(.zoneChanges(page)))
    #expect(story.machine.status(now: story.now).progress?.doneRecords == 2)
  }

  @Test("A failed account check is the last failure until a check succeeds")
  func accountFailureLastsUntilSuccess() {
    var story = Story(automatically: true)
    story.machine.start(now: story.now)
    story.run()
    story.answer(.failure(CloudError(.networkFailure, "")))
    let failure = story.machine.status(now: story.now).lastFailure
    #expect(failure?.code == .networkFailure && failure?.phase == .checkingAccount)
    #expect(failure?.moment == story.now)
    story.advance(.seconds(1))
    story.answer(.success(.currentUser(Story.user)))
    #expect(story.machine.status(now: story.now).lastFailure == nil)
  }

  @Test("After a failed send, or the fetch before its retry, the wait ends with the next attempt")
  func failedOperationWaitsForNextAttempt() {
    let busy = CloudError(.serviceUnavailable, "")
    var story = Story.signedIn(automatically: true)
    story.answer(FetchStoryTests.database([]))
    story.save("a")
    story.advance(.milliseconds(100))
    story.answer(.failure(busy))
    let retry = SyncStatus.Wait(reason: .retry, until: story.now + .seconds(1))
    #expect(story.machine.status(now: story.now).wait == retry)
    // The fetch before the retry fails as well; the moment of the send has passed.
    story.advance(.seconds(1))
    story.answer(.failure(busy))
    let next = SyncStatus.Wait(reason: .retry, until: story.now + .seconds(1))
    #expect(story.machine.status(now: story.now).wait == next)
  }

  @Test("A change that is added during the back-off of fetches is gathered")
  func addedChangeIsGatheredDuringBackoff() {
    var story = Story.signedIn(automatically: true)
    story.answer(.failure(CloudError(.serviceUnavailable, "")))
    #expect(story.machine.status(now: story.now).wait?.reason == .retry)
    story.save("a")
    let gathering = SyncStatus.Wait(
      reason: .gathering, until: story.now + .milliseconds(100))
    #expect(story.machine.status(now: story.now).wait == gathering)
  }

  @Test("In manual mode the status has the wait that the server asked for, and no other")
  func manualWaitOfServerHasItsEnd() {
    var story = Story.signedIn()
    story.save("a")
    story.send()
    story.answer(.failure(CloudError(.serviceUnavailable, "", retryAfter: 30)))
    let wait = SyncStatus.Wait(reason: .serverAsked, until: story.now + .seconds(30))
    #expect(story.machine.status(now: story.now).wait == wait)
    story.advance(.seconds(30))
    #expect(story.machine.status(now: story.now).wait == nil)
  }

  @Test("A wait has a reason and an end")
  func waitHasReasonAndEnd() {
    var nobody = Story(automatically: true)
    #expect(nobody.machine.status(now: nobody.now).phase == .starting)
    nobody.machine.start(now: nobody.now)
    nobody.run()
    #expect(nobody.machine.status(now: nobody.now).phase == .checkingAccount)
    nobody.answer(.failure(CloudError(.notAuthenticated, "")))
    #expect(nobody.machine.status(now: nobody.now).wait == .init(reason: .noAccount, until: nil))

    var lost = Story(automatically: true)
    lost.machine.start(now: lost.now)
    lost.run()
    lost.answer(.failure(CloudError(.networkFailure, "")))
    let wait = lost.machine.status(now: lost.now).wait
    #expect(wait?.reason == .accountUnknown && wait?.until != nil)

    var held = Story.signedIn(automatically: true)
    held.answer(.failure(CloudError(.requestRateLimited, "", retryAfter: 30)))
    let status = held.machine.status(now: held.now)
    #expect(status.wait == .init(reason: .serverAsked, until: held.now + .seconds(30)))
    #expect(status.lastFailure?.code == .requestRateLimited)

    var failed = Story.signedIn(automatically: true)
    failed.answer(.failure(CloudError(.networkFailure, "")))
    #expect(failed.machine.status(now: failed.now).wait?.reason == .retry)

    var gathering = Story.signedIn(automatically: true)
    gathering.answer(FetchStoryTests.database([]))
    gathering.save("a")
    let due = gathering.now + .milliseconds(100)
    #expect(
      gathering.machine.status(now: gathering.now).wait == .init(reason: .gathering, until: due))
    gathering.now = due
    gathering.run()
    #expect(gathering.machine.status(now: gathering.now).phase == .sending)
    _ = gathering.machine.stop()
    #expect(gathering.machine.status(now: gathering.now).phase == .stopped)
  }
}
