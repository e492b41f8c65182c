/// Simulates worlds of the two state machines.
package struct MachineSimulation: SimulatedWorlds {
  /// A planted fault, which a checker must detect.
  package let bug: PlantedBug?

  /// The number of steps in which faults happen.
  package let stepsWithFaults = 1_000

  /// Creates a simulation, with a planted fault if `bug` names one.
  package init(bug: PlantedBug? = nil) { self.bug = bug }

  /// The command line that simulates these worlds, without a seed.
  package var command: String {
    "cloudsync-verify simulate" + (bug.map { " --bug \($0.rawValue)" } ?? "")
  }

  /// Runs the world of `seed`, changed by `shape`, on the calling thread.
  package func run(
    seed: UInt64, shape: WorldShape, print: (@Sendable (String) -> Void)?
  ) -> WorldReport {
    var report = WorldReport(seed: seed)
    do {
      let world = try MachineWorld(seed: seed, shape: shape, bug: bug, print: print)
      defer { world.cloud.place.remove() }
      try world.run()
      world.journal.mix(world.now)
      report.tally.steps = world.steps
      report.hash = world.journal.hash
      report.options = String(describing: world.options)
      report.tape = world.random.tape
      report.take(world.findings, of: command)
    } catch {
      report.note("I23", "the storage failed: \(error)", at: 0, command)
    }
    return report
  }
}
