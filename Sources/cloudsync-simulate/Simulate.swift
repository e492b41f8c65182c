import CloudSyncTesting
import Foundation

/// Runs simulated worlds from seeds and says what was found.
@main
struct Simulate {
  static func main() {
    do {
      let options = try Options(CommandLine.arguments.dropFirst())
      if options.wantsHelp {
        print(Options.usage)
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
    if let seed = options.seed { return replay(seed, options) }
    if let seed = options.shrunkSeed { return shrink(seed, options) }
    if options.endsAtViolation { return runUntilViolation(options) }
    let fleet = Fleet(
      seeds: options.first..<options.first &+ UInt64(options.count), jobs: options.jobs,
      bug: options.bug)
    let outcome = fleet.run()
    for violation in outcome.violations.prefix(10) { print(violation) }
    let found = outcome.violationCount
    print("\(outcome.seeds) seeds, \(outcome.steps) steps, \(found) violations")
    return found == 0
  }

  /// Runs world after world up to the first violation; says the number of each before it begins,
  /// so that whoever watches knows which one ended the process.
  private static func runUntilViolation(_ options: Options) -> Bool {
    for seed in options.first..<options.first &+ UInt64(options.count) {
      FileHandle.standardOutput.write(Data("world \(seed)\n".utf8))
      let report = Simulation.run(seed: seed, bug: options.bug)
      guard let violation = report.violation else { continue }
      print(violation)
      return false
    }
    return true
  }

  /// Makes a failing world small and prints all of it.
  private static func shrink(_ seed: UInt64, _ options: Options) -> Bool {
    guard let world = Simulation.shrink(seed: seed, bug: options.bug) else {
      print("seed \(seed) breaks no promise")
      return true
    }
    print(world.options)
    print(world.tape)
    for line in world.trace { print(line) }
    print(world.violation)
    print(
      "\(world.steps.left) of \(world.steps.before) steps and \(world.choices.left) of "
        + "\(world.choices.before) choices are left")
    return false
  }

  private static func replay(_ seed: UInt64, _ options: Options) -> Bool {
    var report: Simulation.Report
    if options.wantsTrace {
      report = Simulation.run(seed: seed, bug: options.bug) { print($0) }
    } else {
      report = Simulation.runTwice(seed: seed, bug: options.bug)
    }
    if let violation = report.violation { print(violation) }
    print(
      "seed \(seed), \(report.steps) steps, \(report.violation == nil ? 0 : 1) violations, "
        + "trace \(String(report.hash, radix: 16))")
    return report.violation == nil
  }
}
