import CloudSyncTesting
import Foundation
import SQLite

/// Runs simulated worlds from seeds and says what was found.
@main
struct Simulate {
  static func main() {
    SQLiteLibrary.countNoMemory()
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        say(Options.usage)
        return
      }
      exit(try run(options) ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("cloudsync-simulate: \(error)\n".utf8))
      exit(2)
    }
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
    say("\(outcome.seeds) seeds, \(outcome.steps) steps, \(found) violations")
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
    violation.replay = "cloudsync-simulate --shrink \(seed)"
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

/// Prints a line at once: whoever reads a long run through a pipe wants it when it is said.
func say(_ line: some CustomStringConvertible) {
  print(line)
  fflush(nil)
}
