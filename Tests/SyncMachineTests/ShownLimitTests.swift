import CloudProtocol
import Records
import SyncMachine
import Testing

/// The limit of the pending changes that the app is shown, and questions that are repeated.
@Suite("The limit of shown changes")
struct ShownLimitTests {
  private static func shown(_ reach: Int?, readings: Int = 1) -> ShownChanges {
    ShownChanges(readings: readings, isPart: false, reach: reach)
  }

  /// Proves CE-171.
  @Test func theLimitFollowsTheLengthOfTheFrontThatWasSent() {
    var limit = ShownLimit(least: 100)
    #expect(limit.count == nil)
    let steps: [(ShownChanges, Int?)] = [
      (Self.shown(nil, readings: 0), nil), (Self.shown(7), 100), (Self.shown(250), 500),
      (Self.shown(nil, readings: 0), 500), (Self.shown(50), 100), (Self.shown(nil), nil),
      (Self.shown(50), 100), (Self.shown(50, readings: 2), nil),
    ]
    for (step, (shown, expected)) in steps.enumerated() {
      limit.note(shown)
      #expect(limit.count == expected, "step \(step)")
    }
  }

  /// Proves CE-171.
  @Test func aBatchReachesItsLastChangeInTheOrderOfTheList() {
    let list = ["a", "b", "c", "d"].map { PendingChange(.save, Story.id($0)) }
    let mixed = list + [PendingChange(.delete, Story.id("e")), PendingChange(.save, Story.id("f"))]
    func batch(_ saves: [String], _ deletions: [String] = []) -> RecordBatch {
      RecordBatch(
        saves: saves.map { RecordSave(id: Story.id($0), type: "Note", changes: []) },
        deletions: deletions.map(Story.id))
    }
    #expect(batch([]).reach(in: list) == nil)
    #expect(batch(["a", "b"]).reach(in: list) == 2)
    #expect(batch(["a", "d"]).reach(in: list) == 4)
    #expect(batch(["b", "a"]).reach(in: list) == nil)
    #expect(batch(["a", "a"]).reach(in: list) == nil)
    #expect(batch(["a", "z"]).reach(in: list) == nil)
    #expect(batch([], ["a"]).reach(in: list) == nil)
    #expect(batch([], ["e"]).reach(in: mixed) == 5)
    #expect(batch(["a", "f"], ["e"]).reach(in: mixed) == 6)
    #expect(batch(["a"], ["e"]).reach(in: mixed) == 5)
    #expect(batch(["a"]).reach(in: []) == nil)
    #expect(batch(["c"]).reach(in: list, scope: .records([Story.id("c"), Story.id("d")])) == 1)
    #expect(batch(["c"]).reach(in: list, scope: .zones([Story.zone])) == 3)
    #expect(batch(["c"]).reach(in: list, scope: .zones([])) == nil)
  }

  /// The machine up to its question for a batch.
  private static func asked(_ machine: inout SyncMachine, _ now: Moment) -> Bool {
    while true {
      switch machine.next(now: now) {
      case .deliver: machine.delivered()
      case .askForBatch: return true
      case .askForFetchOptions, .send, .abandon, .finish, .wait: return false
      }
    }
  }

  /// Proves CE-172.
  @Test func aPartThatIsDeclinedIsFollowedByAnotherQuestionInTheSameSend() {
    var story = Story.signedIn()
    story.save("a", "b")
    story.machine.setHasUntrackedChanges(true, now: story.now)
    var machine = story.machine
    machine.send(SendContext(reason: .manual, scope: .all), waiter: Waiter(number: 7))
    #expect(Self.asked(&machine, story.now))
    let part = ShownChanges(readings: 1, isPart: true, reach: nil)
    machine.provided(batch: nil, shown: part, now: story.now)
    #expect(machine.state.hasUntrackedChanges, "the app has not declined everything")
    #expect(machine.stage == .askingBatch && Self.asked(&machine, story.now))
    machine.provided(batch: nil, shown: Self.shown(nil), now: story.now)
    #expect(!machine.state.hasUntrackedChanges && machine.stage == .closingSend)
  }

  /// Proves CE-172.
  @Test func aPartThatIsDeclinedWithNothingLeftEndsTheSend() {
    var story = Story.signedIn()
    story.save("a")
    var machine = story.machine
    machine.send(SendContext(reason: .manual, scope: .all), waiter: Waiter(number: 7))
    #expect(Self.asked(&machine, story.now))
    machine.remove([PendingChange(.save, Story.id("a"))], now: story.now)
    machine.provided(
      batch: nil, shown: ShownChanges(readings: 1, isPart: true, reach: nil), now: story.now)
    #expect(!Self.asked(&machine, story.now) && machine.stage == .idle)
  }
}
