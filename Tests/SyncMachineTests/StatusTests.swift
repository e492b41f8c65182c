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
