import CloudProtocol
import Records
import SyncMachine
import Testing

@Suite("Stories of a launch with the state of an earlier one")
struct RelaunchStoryTests {
  /// The states of an app while its zone, and then its record, is under way.
  private static var statesDuringSend: [SyncState] {
    var story = Story.signedIn()
    story.machine.add([PendingChange(.save, Story.zone)], now: story.now)
    story.save("a")
    story.send()
    let duringZones = story.machine.state.snapshot
    let zone = ItemResult<ZoneID, Zone>(id: Story.zone, .success(Zone(id: Story.zone)))
    story.answer(.success(.zonesModified(saved: [zone], deleted: [])))
    return [duringZones, story.machine.state.snapshot]
  }

  /// Proves CE-112.
  @Test(
    "Changes that were under way when the state was taken are pending again and are sent",
    arguments: [false, true])
  func changesInFlightArePendingAgain(automatically: Bool) throws {
    for (index, state) in RelaunchStoryTests.statesDuringSend.enumerated() {
      #expect(state.records.inFlightCount + state.zones.inFlightCount > 0)
      for given in [state, try SyncState(decoding: state.encoded())] {
        var story = Story(automatically: automatically, state: given)
        #expect(story.pending == ["save a"])
        #expect(story.machine.state.zones.pending.map(\.id) == (index == 0 ? [Story.zone] : []))
        #expect(story.machine.state.records.inFlightCount == 0)
        #expect(story.machine.state.zones.inFlightCount == 0)
        #expect(story.machine.state == state, "the same is remembered")
        story.signIn()
        if automatically {
          story.answer(FetchStoryTests.database([]))
          story.now = story.now + .seconds(1)
          story.run()
        } else {
          story.send()
        }
        #expect(story.told().last == (index == 0 ? "> modifyZones" : "> modifyRecords"))
      }
    }
  }

  /// Proves CE-112.
  @Test("A change that was replaced or removed while under way does not come back")
  func settledWishesStayAsTheyAre() {
    var story = Story.signedIn()
    story.save("replaced", "removed")
    story.send()
    story.machine.add([PendingChange(.delete, Story.id("replaced"))], now: story.now)
    story.machine.remove([PendingChange(.save, Story.id("removed"))], now: story.now)
    let next = Story(state: story.machine.state.snapshot)
    #expect(next.pending == ["delete replaced"])
  }
}
