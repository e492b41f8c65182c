import CommandLineKit
import SimulationSupport
package import VerificationSupport

/// The command `simulate` of the verification tool.
package let simulateCommand: any VerificationCommand.Type = SimulateCommand.self

/// Simulates worlds and reports violations.
enum SimulateCommand: VerificationCommand {
  static let name = "simulate"
  static let summary =
    "worlds of devices and a server with faults, each decided by its seed"
  static let usage = """
    usage: cloudsync-verify simulate [--engine] [--seeds N] [--from S] [--jobs J]
                                     [--repeat R] [--second-process] [--hashes]
                                     [--situations] [--all-situations]
           cloudsync-verify simulate [--engine] --until-violation [--seeds N] [--from S]
           cloudsync-verify simulate [--engine] --seed S [--trace]
           cloudsync-verify simulate [--engine] --shrink S [--bug NAME]

    Runs worlds of devices and one server with faults, each decided by its seed.
      --engine          whole engines with their tasks, not only their machines
      --seeds N         the number of seeds, 1 to 1,000,000,000 (1000)
      --from S          the first seed (0)
      --jobs J          the number of threads, 1 to 256 (one for each core)
      --until-violation end at the first violation; on one thread, which prints the number of
                        each world before it begins
      --repeat R        run the first R seeds twice and compare (all, with --engine 100)
      --second-process  repeat the runs in a second process (--engine)
      --hashes          print the number of each seed's trace (--engine)
      --situations      print the count of each situation (--engine)
      --all-situations  fail unless every situation was reached (--engine)
      --seed S          one seed only
      --trace           print its events
      --shrink S        reduce this failing seed's world to its minimum, and print it
      --bug NAME        add a fault to the machines:
                        \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))
    Exit code: 0 without a violation, 1 with one, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    SQLiteLibrary.countNoMemory()
    let options = try Options(&arguments)
    let worlds = options.worlds
    if let seed = options.seeds.seed { return try replay(seed, worlds, options) }
    if let seed = options.shrunkSeed { return try shrink(seed, worlds) }
    if options.seeds.endsAtViolation {
      return try await options.seeds.runUntilViolation {
        try worlds.run(seed: $0, print: nil).violation
      }
    }
    return try SeedRun(options).run()
  }

  /// Makes a failing world small and prints all of it.
  private static func shrink(_ seed: UInt64, _ worlds: any SimulatedWorlds) throws -> Bool {
    guard let world = try worlds.shrink(seed: seed) else {
      say("seed \(seed) violates no invariant")
      return true
    }
    say(world.options)
    for line in world.shape + world.trace { say(line) }
    // The seed alone makes the whole world.
    var violation = world.violation
    violation.replay = "\(worlds.command) --shrink \(seed)"
    say(violation)
    say(world.size)
    return false
  }

  private static func replay(
    _ seed: UInt64, _ worlds: any SimulatedWorlds, _ options: Options
  ) throws -> Bool {
    let report =
      options.seeds.wantsTrace
      ? try worlds.run(seed: seed) { say($0) } : try worlds.runTwice(seed: seed)
    if let violation = report.violation { say(violation) }
    say(
      "seed \(seed), \(report.tally.steps) steps, \(report.violation == nil ? 0 : 1) violations, "
        + "trace \(String(report.hash, radix: 16))")
    return report.violation == nil
  }
}
