import CommandLineKit
import SQLite
import SimulationSupport
package import VerificationSupport

/// The command `simulate` of the verification tool.
package let simulateCommand: any VerificationCommand.Type = SimulateCommand.self

/// Runs simulated worlds from seeds and says what was found.
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
      --seeds N         how many seeds, 1 to 1,000,000,000 (1000)
      --from S          the first seed (0)
      --jobs J          how many threads, 1 to 256 (one for each core)
      --until-violation end at the first promise that does not hold; one thread, which says each
                        world's number before it begins
      --repeat R        run the first R seeds twice and compare (all, with --engine 100)
      --second-process  let a second process run them for the second time (--engine)
      --hashes          print the number of each seed's trace (--engine)
      --situations      print how often each situation was reached (--engine)
      --all-situations  fail unless every situation was reached (--engine)
      --seed S          one seed only
      --trace           print everything that happens in it
      --shrink S        make this failing seed's world as small as it gets, and print it
      --bug NAME        build a fault into the machines:
                        \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", "))
    Ends with 0 when every promise held, 1 when one did not, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) throws -> Bool {
    SQLiteLibrary.countNoMemory()
    return try run(Options(&arguments))
  }

  /// Answers whether every promise held.
  private static func run(_ options: Options) throws -> Bool {
    if options.isWhole { return try EngineRuns(options).run() }
    if let seed = options.seed { return replay(seed, options) }
    if let seed = options.shrunkSeed { return shrink(seed, options) }
    let bug = options.bug
    let repeated = options.repeats.map { options.first &+ UInt64($0) } ?? .max
    if options.endsAtViolation {
      return runUntilViolation(options) { Simulation.run(seed: $0, bug: bug).violation }
    }
    let fleet = Fleet(
      seeds: options.first..<options.first &+ UInt64(options.count), jobs: options.jobs
    ) { seed in
      let report =
        seed < repeated
        ? Simulation.runTwice(seed: seed, bug: bug) : Simulation.run(seed: seed, bug: bug)
      return Fleet.Report(
        seed: seed, steps: report.steps, hash: report.hash, violation: report.violation)
    }
    let outcome = fleet.wait()
    for violation in outcome.violations.prefix(10) { say(violation) }
    let found = outcome.violationCount
    conclude("\(outcome.seeds) seeds, \(outcome.steps) steps, \(found) violations")
    return found == 0
  }

  /// Runs world after world up to the first violation; says the number of each before it begins,
  /// so that whoever watches knows which one ended the process.
  static func runUntilViolation(_ options: Options, _ run: (UInt64) -> Violation?) -> Bool {
    for seed in options.first..<options.first &+ UInt64(options.count) {
      say("world \(seed)")
      guard let violation = run(seed) else { continue }
      say(violation)
      return false
    }
    return true
  }

  /// Makes a failing world small and prints all of it.
  private static func shrink(_ seed: UInt64, _ options: Options) -> Bool {
    guard let world = Simulation.shrink(seed: seed, bug: options.bug) else {
      say("seed \(seed) breaks no promise")
      return true
    }
    say(world.options)
    say(world.tape)
    for line in world.trace { say(line) }
    // The seed alone makes the whole world.
    var violation = world.violation
    violation.replay = "cloudsync-verify simulate --shrink \(seed)"
    say(violation)
    say(
      "\(world.steps.left) of \(world.steps.before) steps and \(world.choices.left) of "
        + "\(world.choices.before) choices are left")
    return false
  }

  private static func replay(_ seed: UInt64, _ options: Options) -> Bool {
    var report: Simulation.Report
    if options.wantsTrace {
      report = Simulation.run(seed: seed, bug: options.bug) { say($0) }
    } else {
      report = Simulation.runTwice(seed: seed, bug: options.bug)
    }
    if let violation = report.violation { say(violation) }
    say(
      "seed \(seed), \(report.steps) steps, \(report.violation == nil ? 0 : 1) violations, "
        + "trace \(String(report.hash, radix: 16))")
    return report.violation == nil
  }
}
