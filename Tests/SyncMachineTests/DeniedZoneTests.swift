import CloudProtocol
import Records
import SyncMachine
import Testing

/// A zone that can't be read, and what the list of zones says of it.
@Suite("Stories of zones that are denied")
struct DeniedZoneTests {
  /// Answers every request of an operation: the zone's feed with `denial` while there is one.
  private func answerAll(_ story: inout Story, denial: CloudError.Code? = nil) {
    var listed = [Story.zone]
    for _ in 0..<20 {
      switch story.request?.request {
      case .fetchCurrentUser: story.answer(.success(.currentUser(Story.user)))
      case .fetchDatabaseChanges:
        story.answer(FetchStoryTests.database(denial == nil ? [] : listed))
        listed = []
      case .fetchZoneChanges:
        story.answer(
          denial.map { .failure(CloudError($0, "")) } ?? FetchStoryTests.page(["a"], 3))
      case .fetchZones:
        let zone = ItemResult<ZoneID, Zone>(id: Story.zone, .success(Zone(id: Story.zone)))
        story.answer(.success(.zones([zone])))
      default: return
      }
    }
  }

  /// Proves CE-113, SC-120.
  @Test(
    "A zone that was denied once is read by the next fetch, whatever the error was",
    arguments: CloudError.Code.allCases)
  func deniedZoneIsReadByTheNextFetch(code: CloudError.Code) throws {
    var story = Story.signedIn()
    story.fetch(1)
    answerAll(&story, denial: code)
    #expect(story.told().contains { $0.hasPrefix("failed") })
    #expect(story.machine.state.changedZones == [Story.zone])
    // In the same run, and after a relaunch from the state that was kept.
    let kept = try SyncState(decoding: story.machine.state.encoded())
    var relaunched = Story(state: kept)
    relaunched.machine.start(now: relaunched.now)
    relaunched.run()
    answerAll(&relaunched)
    for var later in [story, relaunched] {
      later.fetch(2)
      answerAll(&later)
      let told = later.told()
      #expect(told.contains("fetched [\"a\"] []") && told.contains("done"), "\(told)")
      #expect(later.machine.state.changedZones.isEmpty)
    }
  }

  /// Proves CE-113, SC-120.
  @Test(
    "In automatic mode a denied zone is asked for again after the back-off, and never in a hurry",
    arguments: [CloudError.Code.zoneNotFound, .userDeletedZone, .internalError])
  func deniedZoneIsAskedForAgainAfterTheBackoff(code: CloudError.Code) {
    var story = Story.signedIn(automatically: true)
    answerAll(&story, denial: code)
    var attempts = 0
    for _ in 0..<3_600 {
      story.now = story.now + .seconds(1)
      story.run()
      if story.request == nil { continue }
      attempts += 1
      answerAll(&story, denial: code)
    }
    #expect((12...30).contains(attempts), "\(attempts) attempts in an hour")
    story.log = []
    story.now = story.now + .seconds(300)
    story.run()
    answerAll(&story)
    #expect(story.told().contains("fetched [\"a\"] []"))
  }
}
