import SimulationSupport
import Testing

@Suite("Shrinking failing worlds")
struct ShrinkingTests {
  /// Proves PB-9.
  @Test("A world with a planted bug shrinks to a small one that breaks the same invariant")
  func failingWorldShrinksToSameViolation() throws {
    let seeds = UInt64(60)...90
    let simulation = MachineSimulation(bug: .acceptStaleTag)
    let found = try seeds.first { try simulation.run(seed: $0).violation != nil }
    let seed = try #require(found)
    let violation = try #require(try simulation.run(seed: seed).violation)
    let world = try #require(try simulation.shrink(seed: seed, budget: 250))
    let choices = try #require(world.choices)
    #expect(world.violation.invariant == violation.invariant)
    #expect(world.steps.left < world.steps.before / 2, "\(world.steps)")
    #expect(choices.left < choices.before / 2, "\(choices)")
    #expect(!world.trace.isEmpty)
  }

  /// Proves PB-9.
  @Test("A healthy world cannot be shrunk")
  func healthyWorldDoesNotShrink() throws {
    #expect(try MachineSimulation().shrink(seed: 1) == nil)
  }

  /// Proves PB-9.
  @Test("A world of engines shrinks to a small one that breaks the same invariant")
  func engineWorldShrinksToSameViolation() throws {
    // A promise that only worlds with kills break.
    let simulation = EngineSimulation { tally in
      tally.kills > 1 ? "\(tally.kills) kills" : nil
    }
    var shrunk: ShrunkWorld?
    for seed in UInt64(1)...20 where shrunk == nil {
      shrunk = try simulation.shrink(seed: seed, budget: 150)
    }
    let world = try #require(shrunk)
    #expect(world.violation.invariant == "I0" && world.violation.message.hasSuffix("kills"))
    #expect(world.steps.left < world.steps.before / 2, "\(world.steps)")
    #expect(world.reductions.count > 10 && !world.reductions.contains("crash"))
    #expect(world.trace.contains { $0.hasSuffix("is killed") } && world.worlds <= 150)
    #expect(try EngineSimulation().shrink(seed: 1) == nil, "a healthy world was shrunk")
  }

  /// Proves I24.
  @Test("Recorded choices replay identically, and a missing choice is the benign one")
  func recordedChoicesReplayIdentically() throws {
    var recorder = SeededRandom(recording: 7)
    var plain = SeededRandom(seed: 7)
    var drawn: [Int] = []
    for step in 0..<4 {
      if step > 0 { recorder.beginStep(isHealing: step == 3) }
      let (first, second) = (recorder.below(1_000), recorder.chance(0.9))
      let (other, another) = (plain.below(1_000), plain.chance(0.9))
      #expect(first == other && second == another, "step \(step)")
      drawn.append(first)
    }
    var tape = try #require(recorder.tape)
    #expect(tape.opening.count == 2 && tape.steps.map(\.count) == [2, 2])
    #expect(tape.healing.map(\.count) == [2] && tape.choiceCount == 8)

    // Without the first step, and without the second's second choice.
    tape.steps.removeFirst()
    tape.steps[0][1] = nil
    var player = SeededRandom(playing: tape)
    let first = player.below(1_000)
    player.beginStep(isHealing: false)
    let second = player.below(1_000)
    let benign = player.chance(0.999)
    let behindStep = player.below(1_000)
    player.beginStep(isHealing: false)
    let behindSteps = player.pick(["benign", "fault"])
    player.beginStep(isHealing: true)
    let last = player.below(1_000)
    #expect([first, second, last] == [drawn[0], drawn[2], drawn[3]])
    #expect(!benign && behindStep == 0 && behindSteps == "benign")
  }
}
