import SimulationSupport
import Testing

/// The worlds in which the simulator found bugs of the product, with what was wrong.
///
/// The simulator has learned more since, so today's world of a seed is not the one of then; each
/// bug has a story of its own among the tests of the machines, and most have a fault in the
/// catalogue of `Planting`, which every release must find.
@Suite("Seeds that once failed")
struct RegressionSeedTests {
  private static let stories: [(seed: UInt64, story: String)] = [
    (2, "several zone changes above the server's limit failed for ever"),
    (7, "a narrow send by hand took the place of the scheduled one"),
    (24, "after a wait that the server asked for, a fetch went on with the next request at once"),
    (27, "a narrow fetch by hand took the place of the scheduled one"),
    (48, "an edit made while the app built a batch was lost with the batch's success"),
    (118, "an app that had nothing for a narrow send was taken to have nothing at all"),
    (136, "after a crash over an account change, app and engine had different accounts"),
    (160, "a zone that went and came back was read without saying what is gone"),
    (216, "a state log had the new account beside an app with the old one's data"),
    (423, "the same, with the state handed over before the event"),
    (1325, "refusals of everything but the account question were answered without a pause"),
    (6593, "a first reading that was cut off began anew and did not tell of deletions"),
    (13277, "an app that died over an event forgot what people had done meanwhile"),
    (21741, "an app that went on without a state kept what had been deleted before"),
    (39115, "the same, with a zone that was purged meanwhile"),
    (48434, "after a crash over its first saves a zone that went was not missed"),
    (56050, "the same, for an app that keeps data and state together"),
    (60525, "an older state deleted a zone again, and its app kept what it had saved there since"),
    (85406, "an app dropped what it had confirmed of zones that the engine knew"),
    (91773, "an app took back a change, and died before it wrote down why"),
    (276176, "an app went on from a state that did not know a zone of its data, which had gone"),
  ]

  @Test("Seeds that once failed hold every invariant", arguments: stories.map(\.seed))
  func formerlyFailingSeedsHoldInvariants(_ seed: UInt64) throws {
    let story = Self.stories.first { $0.seed == seed }?.story ?? ""
    let violation = try MachineSimulation().run(seed: seed).violation
    #expect(violation == nil, "\(story): \(violation.map(String.init(describing:)) ?? "")")
  }
}
