import CloudSyncTesting
import Testing

@Suite("Shrinking failing worlds")
struct ShrinkingTests {
  /// Proves PB-9.
  @Test("A world with a planted bug becomes a small one that breaks the same promise")
  func planted() throws {
    let seeds = UInt64(1)...40
    let bug = PlantedBug.dropOnServiceUnavailable
    let found = seeds.lazy.compactMap { Simulation.run(seed: $0, bug: bug).violation }.first
    let violation = try #require(found)
    let world = try #require(Simulation.shrink(seed: violation.seed, bug: bug, budget: 150))
    #expect(world.violation.invariant == violation.invariant)
    #expect(world.steps.left < world.steps.before / 2, "\(world.steps)")
    #expect(world.choices.left < world.choices.before / 2, "\(world.choices)")
    #expect(!world.trace.isEmpty)
  }

  /// Proves PB-9.
  @Test("A healthy world can't be shrunk")
  func healthy() {
    #expect(Simulation.shrink(seed: 1) == nil)
  }

  /// Proves I24.
  @Test("What is recorded plays the same, and what is missing is the benign choice")
  func tape() throws {
    var recorder = SeededRandom(recording: 7)
    var plain = SeededRandom(seed: 7)
    var drawn: [Int] = []
    for step in 0..<4 {
      if step > 0 { recorder.beginStep(isHealing: step == 3) }
      drawn.append(recorder.below(1_000))
      #expect(drawn[step] == plain.below(1_000))
      #expect(recorder.chance(0.9) == plain.chance(0.9))
    }
    var tape = try #require(recorder.tape)
    #expect(tape.opening.count == 2 && tape.steps.map(\.count) == [2, 2])
    #expect(tape.healing.map(\.count) == [2] && tape.choiceCount == 8)

    // Without the first step, and without the second's second choice.
    tape.steps.removeFirst()
    tape.steps[0][1] = nil
    var player = SeededRandom(playing: tape)
    #expect(player.below(1_000) == drawn[0])
    player.beginStep(isHealing: false)
    #expect(player.below(1_000) == drawn[2])
    #expect(!player.chance(0.999))
    #expect(player.below(1_000) == 0, "behind the end of its step")
    player.beginStep(isHealing: false)
    #expect(player.pick(["benign", "fault"]) == "benign", "behind the last step")
    player.beginStep(isHealing: true)
    #expect(player.below(1_000) == drawn[3])
  }
}
