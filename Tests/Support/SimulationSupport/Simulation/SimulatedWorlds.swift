/// Worlds of devices and a server, each decided by its seed.
package protocol SimulatedWorlds: Sendable {
  /// The command line that simulates these worlds, without a seed.
  var command: String { get }
  /// The number of steps in which faults happen.
  var stepsWithFaults: Int { get }

  /// Runs the world of `seed`, changed by `shape`, on the calling thread.
  ///
  /// - Parameter print: is called with a line for everything that happens.
  func run(
    seed: UInt64, shape: WorldShape, print: (@Sendable (String) -> Void)?
  ) throws -> WorldReport
}

/// The result of one world.
package struct WorldReport: Hashable, Sendable {
  /// The seed.
  package var seed: UInt64
  /// The number of times that things happened.
  package var tally = WorldTally()
  /// A hash of everything that happened.
  package var hash: UInt64 = 0
  /// The first violation, if any.
  package var violation: Violation?
  /// The options of the world, for people.
  var options = ""
  /// The choices of the world, if they were recorded.
  var tape: ChoiceTape?

  init(seed: UInt64) { self.seed = seed }

  /// Takes over the first finding as the violation.
  mutating func take(_ findings: Findings, of command: String) {
    guard let first = findings.found.first else { return }
    note(first.invariant, first.message, at: first.step, command)
  }

  /// Notes a violation.
  mutating func note(_ invariant: String, _ message: String, at step: Int, _ command: String) {
    violation = Violation(
      seed: seed, step: step, invariant: invariant, message: message,
      replay: "\(command) --seed \(seed)")
  }
}

extension SimulatedWorlds {
  /// Runs the world of `seed` on the calling thread.
  ///
  /// - Parameter print: is called with a line for everything that happens.
  package func run(
    seed: UInt64, print: (@Sendable (String) -> Void)? = nil
  ) throws -> WorldReport {
    try run(seed: seed, shape: WorldShape(steps: stepsWithFaults), print: print)
  }

  /// Runs the world of `seed` twice and compares the hashes (I24); the report counts both runs.
  package func runTwice(seed: UInt64) throws -> WorldReport {
    var first = try run(seed: seed)
    let second = try run(seed: seed)
    if first.violation == nil { first.violation = second.violation }
    if first.violation == nil, first.hash != second.hash || first.tally != second.tally {
      first.note("I24", "two runs of one seed differ", at: first.tally.steps, command)
    }
    first.tally.add(second.tally)
    return first
  }
}
