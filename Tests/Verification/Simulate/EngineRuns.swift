import Foundation
import SimulationSupport
import VerificationSupport

/// Runs worlds of whole engines and says what was found.
struct EngineRuns {
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Answers whether every promise held.
  func run() throws -> Bool {
    if let seed = options.seed { return try replay(seed) }
    if let seed = options.shrunkSeed { return try shrink(seed) }
    if options.endsAtViolation {
      return SimulateCommand.runUntilViolation(options) {
        Self.report($0, isTwice: false).violation
      }
    }
    let seeds = options.first..<options.first &+ UInt64(options.count)
    let repeated = min(UInt64(options.repeats ?? 100), UInt64(options.count))
    let kept = options.printsHashes ? seeds.upperBound : seeds.lowerBound + repeated
    let secondHere = !options.usesSecondProcess && !options.printsHashes
    let fleet = Fleet(seeds: seeds, jobs: options.jobs, keepsHashesBelow: kept) { seed in
      Self.report(seed, isTwice: secondHere && seed < seeds.lowerBound + repeated)
    }
    let outcome = fleet.wait()
    if options.printsHashes {
      for (seed, hash) in outcome.hashes.sorted(by: { $0.key < $1.key }) {
        say("\(seed) \(String(hash, radix: 16))")
      }
    }
    for violation in outcome.violations.prefix(10) { say(violation) }
    var isHealthy = outcome.violationCount == 0
    if options.usesSecondProcess, isHealthy {
      isHealthy = try compare(outcome.hashes, count: Int(repeated))
    }
    conclude(summary(outcome))
    if options.wantsSituations {
      for (name, count) in outcome.tally.situations.sorted(by: { $0.key < $1.key }) {
        say("\(count)\t\(name)")
      }
    }
    return reportsSituations(outcome) && isHealthy
  }

  /// Says how many of the required situations were reached; answers whether that is enough.
  private func reportsSituations(_ outcome: Fleet.Outcome) -> Bool {
    guard options.demandsSituations else { return true }
    let missing = Situation.required.filter { outcome.tally.situations[$0.name] == nil }
    for situation in missing { say("never reached: \(situation.name): \(situation.sentence)") }
    let count = Situation.required.count
    conclude("\(count - missing.count) of \(count) situations reached")
    return missing.isEmpty
  }

  private static func report(_ seed: UInt64, isTwice: Bool) -> Fleet.Report {
    do {
      let report =
        isTwice ? try EngineSimulation.runTwice(seed: seed) : try EngineSimulation.run(seed: seed)
      return Fleet.Report(
        seed: seed, steps: report.tally.steps, hash: report.hash, violation: report.violation,
        tally: report.tally)
    } catch {
      return Fleet.Report(
        seed: seed, steps: 0, hash: 0,
        violation: Violation(
          seed: seed, step: 0, invariant: "I24", message: "\(error)", replay: "none"))
    }
  }

  private func summary(_ outcome: Fleet.Outcome) -> String {
    let tally = outcome.tally
    return """
      \(outcome.seeds) seeds, \(outcome.steps) steps, \(outcome.violationCount) violations
      \(tally.jobs) jobs, \(tally.requests) requests, \(tally.edits) edits, \
      \(tally.kills) kills of devices (\(tally.powerLosses) in the middle of a write), \
      \(tally.restarts) restarts (\(tally.staleRestarts) from an older state), \
      \(tally.serverRestarts) restarts of the server
      \(tally.worldsOnDisk) worlds with the server in a file: killed \(tally.serverKills) times, \
      without power \(tally.serverPowerLosses) times
      """
  }

  /// Lets another process, in which hashes differ, run the seeds again, and compares the traces.
  private func compare(_ hashes: [UInt64: UInt64], count: Int) throws -> Bool {
    guard count > 0 else { return true }
    let process = Process()
    let words = try SimulateCommand.childWords([
      "--engine", "--seeds", "\(count)", "--from", "\(options.first)", "--hashes", "--jobs",
      "\(options.jobs)",
    ])
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    var equal = 0
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let seed = UInt64(words[0]), let hash = UInt64(words[1], radix: 16)
      else { continue }
      if hashes[seed] == hash {
        equal += 1
      } else {
        say("seed \(seed): I24: another process took another course")
      }
    }
    conclude("\(equal) of \(count) seeds took the same course in a second process")
    return equal == count
  }

  /// Makes a failing world small and prints all of it.
  private func shrink(_ seed: UInt64) throws -> Bool {
    guard let world = try EngineSimulation.shrink(seed: seed) else {
      say("seed \(seed) breaks no promise")
      return true
    }
    for line in world.trace { say(line) }
    say(world.options)
    say("without: \(world.reductions.joined(separator: ", "))")
    // The seed alone makes the whole world.
    var violation = world.violation
    violation.replay = "cloudsync-verify simulate --engine --shrink \(seed)"
    say(violation)
    say(
      "\(world.steps.left) of \(world.steps.before) steps with faults are left, after "
        + "\(world.worlds) worlds")
    return false
  }

  private func replay(_ seed: UInt64) throws -> Bool {
    let report: EngineSimulation.Report
    if options.wantsTrace {
      report = try EngineSimulation.run(seed: seed) { say($0) }
    } else {
      report = try EngineSimulation.runTwice(seed: seed)
    }
    if let violation = report.violation { say(violation) }
    say(
      "seed \(seed), \(report.tally.steps) steps, \(report.violation == nil ? 0 : 1) violations, "
        + "trace \(String(report.hash, radix: 16))")
    return report.violation == nil
  }
}
