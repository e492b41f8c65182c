/// Runs simulated worlds.
package enum Simulation {
  /// What became of one world.
  package struct Report: Hashable, Sendable {
    /// The seed it was made from.
    package var seed: UInt64
    /// How many steps it took.
    package var steps: Int
    /// A number over everything that happened.
    package var hash: UInt64
    /// The first promise that did not hold; `nil` for a healthy world.
    package var violation: Violation?
  }

  /// How many steps the phase with faults takes.
  package static let stepsWithFaults = 1_000

  /// Runs the world of `seed`.
  ///
  /// - Parameters:
  ///   - bug: A fault to build in, to see whether it is found.
  ///   - print: Is given a line for everything that happens.
  package static func run(
    seed: UInt64, bug: PlantedBug? = nil, print: ((String) -> Void)? = nil
  ) -> Report {
    run(
      seed: seed, choices: SeededRandom(seed: seed), steps: stepsWithFaults, bug: bug,
      print: print)
  }

  /// Runs a world whose choices come from anywhere.
  ///
  /// - Parameters:
  ///   - steps: How many steps the phase with faults takes.
  ///   - reductions: What is taken away from what the world is like.
  ///   - inspect: Is shown the world at its end.
  static func run(
    seed: UInt64, choices: SeededRandom, steps: Int, reductions: [WorldReduction] = [],
    bug: PlantedBug?, print: ((String) -> Void)? = nil, inspect: (World) -> Void = { _ in }
  ) -> Report {
    let replay =
      "cloudsync-verify simulate --seed \(seed)" + (bug.map { " --bug \($0.rawValue)" } ?? "")
    do {
      let world = try World(
        seed: seed, choices: choices, steps: steps, reductions: reductions, bug: bug,
        print: print)
      defer { world.cloud.place.remove() }
      try world.run()
      world.trace.mix(world.now)
      inspect(world)
      let violation = world.findings.found.first.map {
        Violation(
          seed: seed, step: $0.step, invariant: $0.invariant, message: $0.message, replay: replay)
      }
      return Report(
        seed: seed, steps: world.steps, hash: world.trace.value, violation: violation)
    } catch {
      let violation = Violation(
        seed: seed, step: 0, invariant: "I23", message: "the storage failed: \(error)",
        replay: replay)
      return Report(seed: seed, steps: 0, hash: 0, violation: violation)
    }
  }

  /// Runs the world of `seed` twice and demands that both runs were the same (I24); the steps of
  /// both count.
  package static func runTwice(seed: UInt64, bug: PlantedBug? = nil) -> Report {
    var first = run(seed: seed, bug: bug)
    let second = run(seed: seed, bug: bug)
    if first.violation == nil, first.hash != second.hash || first.steps != second.steps {
      first.violation = Violation(
        seed: seed, step: first.steps, invariant: "I24",
        message: "two runs of one seed differ", replay: "cloudsync-verify simulate --seed \(seed)")
    }
    first.steps += second.steps
    return first
  }
}
