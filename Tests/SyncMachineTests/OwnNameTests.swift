import CloudProtocol
import Records
import SyncMachine
import Testing

/// A zone and a record that wait under both of their names.
struct OwnNameTests {
  private let named = ZoneID(name: "Notes", owner: Story.user.rawValue)

  /// Proves CE-155.
  @Test func oneItemUnderBothNamesGoesIntoTwoRequests() {
    var story = Story.signedIn()
    story.machine.add(
      [PendingChange(.save, Story.zone), PendingChange(.save, named)], now: story.now)
    let both = [Story.id("a"), RecordID(name: "a", zone: named), Story.id("b")]
    story.machine.add(both.map { PendingChange(.save, $0) }, now: story.now)
    story.send()
    var zones: [[ZoneID]] = []
    while case .modifyZones(let request)? = story.request?.request {
      zones.append(request.save)
      story.answer(
        .success(
          .zonesModified(
            saved: request.save.map {
              ItemResult(id: $0, .success(Zone(id: $0, capabilities: [])))
            },
            deleted: [])))
    }
    #expect(zones == [[Story.zone], [named]])
    var records: [[RecordID]] = []
    while case .modifyRecords(let request)? = story.request?.request {
      records.append(request.save.map(\.id))
      story.answerRecords()
    }
    #expect(records == [[both[0], both[2]], [both[1]]])
    #expect(story.pending == [] && story.machine.state.zones.isEmpty)
  }

  /// Proves CE-156.
  @Test func aChangeAddedWhileTheBatchIsBuiltWaitsAgainWhicheverNameTheBatchUses() {
    for zone in [Story.zone, named] {
      var story = Story.signedIn()
      let change = PendingChange(.save, Story.id("a"))
      story.machine.add([change], now: story.now)
      story.machine.send(
        SendContext(reason: .manual, scope: .all), waiter: Waiter(number: 1))
      var isAsked = false
      while !isAsked {
        switch story.machine.next(now: story.now) {
        case .deliver: story.machine.delivered()
        case .askForBatch:
          isAsked = true
          story.machine.add([change], now: story.now)
          var batch = RecordBatch()
          let id = RecordID(name: "a", zone: zone)
          batch.saves = [RecordSave(id: id, type: "Note", changes: [])]
          story.machine.provided(batch: batch, now: story.now)
        case .send, .askForFetchOptions, .abandon, .finish, .wait:
          Issue.record("the app is not asked for a batch")
          return
        }
      }
      story.run()
      #expect(story.pending == ["save a"])
    }
  }
}
