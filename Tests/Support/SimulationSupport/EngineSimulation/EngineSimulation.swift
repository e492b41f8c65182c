import CloudProtocol

/// Runs whole engines in worlds that a seed decides.
package enum EngineSimulation {
  /// What became of one world.
  package struct Report: Hashable, Sendable {
    /// The seed it was made from.
    package var seed: UInt64
    /// What happened in it.
    package var tally = EngineTally()
    /// A number over everything that happened, the tally included.
    package var hash: UInt64 = 0
    /// The first promise that did not hold; `nil` for a healthy world.
    package var violation: Violation?
    /// What the world was like.
    var options = ""
  }

  /// How many steps the phase with faults takes.
  package static let stepsWithFaults = 700

  /// Runs the world of `seed` on the calling thread.
  ///
  /// - Parameter print: is given a line for everything that happens.
  /// - Throws: ``LaneError``.
  package static func run(
    seed: UInt64, print: (@Sendable (String) -> Void)? = nil
  ) throws(LaneError) -> Report {
    try run(seed: seed, shape: .whole, print: print)
  }

  /// Runs a world that differs from the seed's by its shape; `promise` is one more that must hold.
  static func run(
    seed: UInt64, shape: EngineShape, promise: Promise? = nil,
    print: (@Sendable (String) -> Void)? = nil
  ) throws(LaneError) -> Report {
    let lane = SerialLane(seed: seed)
    var report = Report(seed: seed)
    try TaskHook.with(lane) { report = run(seed: seed, shape, lane, promise, print) }
    return report
  }

  /// Runs the world of `seed` twice and demands that both runs were the same (I24); what happened
  /// in both counts.
  package static func runTwice(seed: UInt64) throws(LaneError) -> Report {
    var first = try run(seed: seed)
    let second = try run(seed: seed)
    if first.violation == nil { first.violation = second.violation }
    if first.violation == nil, first.hash != second.hash {
      first.violation = Violation(
        seed: seed, step: first.tally.steps, invariant: "I24",
        message: "two runs of one seed differ",
        replay: "cloudsync-verify simulate --engine --seed \(seed)")
    }
    first.tally.add(second.tally)
    return first
  }

  private static func run(
    seed: UInt64, _ shape: EngineShape, _ lane: SerialLane, _ promise: Promise?,
    _ print: (@Sendable (String) -> Void)?
  ) -> Report {
    var report = Report(seed: seed)
    let replay = "cloudsync-verify simulate --engine --seed \(seed)"
    do {
      let world = try EngineWorld(
        seed: seed, shape: shape, lane: lane, print: print)
      report.options = "\(world.options)"
      try world.run()
      if world.findings.isEmpty, let broken = promise?(world.tally) {
        world.findings.report("I0", broken)
      }
      report.tally = world.tally
      var hash = TraceHash()
      hash.mix(world.journal.hash)
      world.tally.mix(into: &hash)
      report.hash = hash.value
      report.violation = world.findings.found.first.map {
        Violation(
          seed: seed, step: $0.step, invariant: $0.invariant, message: $0.message, replay: replay)
      }
    } catch {
      report.violation = Violation(
        seed: seed, step: 0, invariant: "I23", message: "the server failed: \(error)",
        replay: replay)
    }
    return report
  }
}
