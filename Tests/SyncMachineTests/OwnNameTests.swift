import CloudProtocol
import Records
import SyncMachine
import Testing

/// A zone and a record that wait under both of their names.
struct OwnNameTests {
  private let named = ZoneID(name: "Notes", owner: Story.user.rawValue)

  /// Proves CE-155.
  @Test func oneItemUnderBothNamesIsOneChangeUnderTheLastName() {
    var story = Story.signedIn()
    story.machine.add(
      [PendingChange(.save, Story.zone), PendingChange(.save, named)], now: story.now)
    let other = RecordID(name: "a", zone: named)
    let changes = [Story.id("a"), Story.id("b"), other].map { PendingChange(ChangeKind.save, $0) }
    story.machine.add(changes, now: story.now)
    #expect(story.machine.state.zones.pending.map(\.id) == [named])
    #expect(story.machine.state.records.pending.map(\.id) == [other, Story.id("b")])
    story.machine.remove([PendingChange(.save, Story.id("a"))], now: story.now)
    #expect(story.machine.state.records.pending.map(\.id) == [Story.id("b")])
  }

  /// Proves CE-155.
  @Test func aBatchThatNamesARecordByBothNamesGoesIntoTwoRequests() {
    var story = Story.signedIn()
    let both = [Story.id("a"), RecordID(name: "a", zone: named)]
    story.machine.add([PendingChange(.save, both[0])], now: story.now)
    story.machine.send(SendContext(reason: .manual, scope: .all), waiter: Waiter(number: 1))
    while story.request == nil {
      switch story.machine.next(now: story.now) {
      case .deliver: story.machine.delivered()
      case .askForBatch:
        var batch = RecordBatch()
        batch.saves = both.map { RecordSave(id: $0, type: "Note", changes: []) }
        story.machine.provided(batch: batch, now: story.now)
      case .send(let request): story.request = request
      case .askForFetchOptions, .abandon, .finish, .wait:
        Issue.record("nothing is sent")
        return
      }
    }
    var records: [[RecordID]] = []
    while case .modifyRecords(let request)? = story.request?.request {
      records.append(request.save.map(\.id))
      story.answerRecords()
    }
    #expect(records == [[both[0]], [both[1]]])
    #expect(story.pending == [])
  }

  /// Proves CE-155.
  @Test func aSaveAndADeletionOfOneRecordByBothNamesGoIntoTwoRequests() {
    var story = Story.signedIn()
    let (saved, deleted) = (Story.id("a"), RecordID(name: "a", zone: named))
    var isGiven = false
    story.batch = { _, _ in
      guard !isGiven else { return nil }
      isGiven = true
      return RecordBatch(
        saves: [RecordSave(id: saved, type: "Note", changes: [])], deletions: [deleted])
    }
    story.save("a")
    story.send()
    var requests: [ModifyRecords] = []
    while case .modifyRecords(let request)? = story.request?.request {
      requests.append(request)
      story.answerRecords()
    }
    #expect(requests.map { $0.save.map(\.id) } == [[saved], []])
    #expect(requests.map(\.delete) == [[], [deleted]])
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
