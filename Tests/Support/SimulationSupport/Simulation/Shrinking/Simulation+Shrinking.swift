extension Simulation {
  /// A failing world made as small as it gets.
  package struct ShrunkWorld: Sendable {
    /// The violation it ends with.
    package var violation: Violation
    /// How many steps with faults it has, and the whole world had.
    package var steps: (left: Int, before: Int)
    /// How many choices that are not benign it has, and the whole world had.
    package var choices: (left: Int, before: Int)
    /// What the world is like.
    package var options: String
    /// Its choices.
    package var tape: ChoiceTape
    /// What happens in it, a line for everything.
    package var trace: [String]
  }

  /// Makes the world of `seed` smaller as long as it breaks the same promise; `nil` when it breaks
  /// none.
  ///
  /// - Parameters:
  ///   - bug: A fault to build in.
  ///   - budget: How many worlds may be run for it.
  package static func shrink(
    seed: UInt64, bug: PlantedBug? = nil, budget: Int = 4_000
  ) -> ShrunkWorld? {
    var tape = ChoiceTape()
    let whole = run(
      seed: seed, choices: SeededRandom(recording: seed), steps: stepsWithFaults, bug: bug,
      inspect: { tape = $0.random.tape ?? ChoiceTape() })
    guard let violation = whole.violation else { return nil }
    func report(
      _ candidate: Shrinker.Candidate, print: ((String) -> Void)? = nil,
      inspect: (World) -> Void = { _ in }
    ) -> Report {
      run(
        seed: seed, choices: SeededRandom(playing: candidate.tape),
        steps: candidate.tape.steps.count, reductions: candidate.reductions, bug: bug,
        print: print, inspect: inspect)
    }
    // The choices are those of the seed: a tape fails as its world did.
    var shrinker = Shrinker(
      Shrinker.Candidate(tape: tape), invariant: violation.invariant, budget: budget
    ) { report($0).violation }
    shrinker.shrink()
    var lines: [String] = []
    var options = ""
    let last = report(
      shrinker.best, print: { lines.append($0) },
      inspect: { options = String(describing: $0.options) })
    return ShrunkWorld(
      violation: last.violation ?? violation,
      steps: (shrinker.best.tape.steps.count, tape.steps.count),
      choices: (shrinker.best.tape.choiceCount, tape.choiceCount), options: options,
      tape: shrinker.best.tape, trace: lines)
  }
}
