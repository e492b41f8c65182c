import CloudProtocol

/// Simulates worlds of whole engines.
package struct EngineSimulation: SimulatedWorlds {
  /// An invariant of a test: returns what of the tally violates it.
  package typealias Invariant = @Sendable (WorldTally) -> String?

  /// The command line that simulates these worlds, without a seed.
  package let command = "cloudsync-verify simulate --engine"
  /// The number of steps in which faults happen.
  package let stepsWithFaults = 700

  private let invariant: Invariant?

  /// Creates a simulation, with one more invariant, `I0`, if there is `invariant`.
  package init(invariant: Invariant? = nil) { self.invariant = invariant }

  /// Runs the world of `seed`, changed by `shape`, on the calling thread.
  ///
  /// - Throws: ``ExecutorError``.
  package func run(
    seed: UInt64, shape: WorldShape, print: (@Sendable (String) -> Void)?
  ) throws -> WorldReport {
    let executor = SeededExecutor(seed: seed)
    var report = WorldReport(seed: seed)
    try GlobalExecutorHook.with(executor) { run(shape, executor, &report, print) }
    return report
  }

  private func run(
    _ shape: WorldShape, _ executor: SeededExecutor, _ report: inout WorldReport,
    _ print: (@Sendable (String) -> Void)?
  ) {
    do {
      let world = try EngineWorld(seed: report.seed, shape: shape, executor: executor, print: print)
      report.options = "\(world.options)"
      try world.run()
      if world.findings.isEmpty, let violation = invariant?(world.tally) {
        world.findings.report("I0", violation)
      }
      report.tally = world.tally
      var hash = TraceHash()
      hash.mix(world.journal.hash)
      world.tally.mix(into: &hash)
      report.hash = hash.value
      report.take(world.findings, of: command)
    } catch {
      report.note("I23", "the server failed: \(error)", at: 0, command)
    }
  }
}
