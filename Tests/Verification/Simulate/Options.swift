import CommandLineKit
import SimulationSupport
import VerificationSupport

/// The options of the command `simulate`.
struct Options: Sendable {
  /// The seeds to run.
  var seeds: SeedOptions
  /// The only fault of the machines to plant.
  var bug: PlantedBug?
  /// The seed of the failing world to make smaller.
  var shrunkSeed: UInt64?
  /// Whether whole engines run, and not only their machines.
  var isWhole: Bool
  /// How many of the first seeds run a second time; `nil` for all, with engines 100.
  var repeats: Int?
  /// Whether another process runs the seeds for the second time.
  var usesSecondProcess: Bool
  /// Whether the hash of each world is printed.
  var printsHashes: Bool
  /// Whether the number of times that each situation was reached is printed.
  var wantsSituations: Bool
  /// Whether a situation that was not reached is a failure.
  var demandsSituations: Bool

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    isWhole = arguments.flag("engine")
    seeds = try SeedOptions(&arguments, count: 1_000, most: 1_000_000_000)
    shrunkSeed = try arguments.seed("shrink")
    repeats = try arguments.number("repeat", in: 0...1_000_000_000)
    usesSecondProcess = arguments.flag("second-process")
    printsHashes = arguments.flag("hashes")
    wantsSituations = arguments.flag("situations")
    demandsSituations = arguments.flag("all-situations")
    bug = try arguments.choice("bug", of: PlantedBug.self)
    try arguments.end()
    let needsEngine = usesSecondProcess || printsHashes || wantsSituations || demandsSituations
    if needsEngine, !isWhole { throw UsageError("this needs --engine") }
    if bug != nil, isWhole { throw UsageError("--bug is for the machines, without --engine") }
  }

  /// The worlds to simulate.
  var worlds: any SimulatedWorlds {
    isWhole ? EngineSimulation() : MachineSimulation(bug: bug)
  }

  /// The seeds below this one run twice.
  var firstRunOnce: UInt64 {
    let count = UInt64(repeats ?? (isWhole ? 100 : seeds.count))
    return seeds.first &+ min(count, UInt64(seeds.count))
  }
}
