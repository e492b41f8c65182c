import Foundation
import SimulationSupport
import VerificationSupport

/// Runs the worlds of many seeds on several threads; the outcome does not depend on how many.
struct SeedRun {
  /// The combined reports.
  struct Outcome: Sendable {
    var seeds = 0
    var tally = WorldTally()
    var violations: [Violation] = []
    /// The hashes of the worlds that a second process repeats, or all that are printed.
    var hashes: [UInt64: UInt64] = [:]
  }

  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Runs all worlds and prints the results.
  ///
  /// - Returns: Whether there was no violation and every required situation was reached.
  func run() throws -> Bool {
    let outcome = try combined()
    if options.printsHashes {
      for (seed, hash) in outcome.hashes.sorted(by: { $0.key < $1.key }) {
        say("\(seed) \(String(hash, radix: 16))")
      }
    }
    for violation in outcome.violations.sorted(by: { $0.seed < $1.seed }).prefix(10) {
      say(violation)
    }
    var isHealthy = outcome.violations.isEmpty
    if options.usesSecondProcess, isHealthy { isHealthy = try compare(outcome.hashes) }
    conclude(summary(outcome))
    if options.wantsSituations {
      for (name, count) in outcome.tally.situations.sorted(by: { $0.key < $1.key }) {
        say("\(count)\t\(name)")
      }
    }
    return reportsSituations(outcome) && isHealthy
  }

  private func combined() throws -> Outcome {
    let (options, worlds, firstRunOnce) = (options, options.worlds, options.firstRunOnce)
    let repeatsHere = !options.usesSecondProcess && !options.printsHashes
    return try options.seeds.run(into: Outcome()) { seed in
      repeatsHere && seed < firstRunOnce
        ? try worlds.runTwice(seed: seed) : try worlds.run(seed: seed, print: nil)
    } combine: { outcome, report in
      outcome.seeds += 1
      outcome.tally.add(report.tally)
      if options.printsHashes || report.seed < firstRunOnce && !repeatsHere {
        outcome.hashes[report.seed] = report.hash
      }
      if let violation = report.violation { outcome.violations.append(violation) }
      return report.violation.map(String.init(describing:))
    }
  }

  /// Prints how many of the required situations were reached; returns whether it is enough.
  private func reportsSituations(_ outcome: Outcome) -> Bool {
    guard options.demandsSituations else { return true }
    let missing = Situation.required.filter { outcome.tally.situations[$0.name] == nil }
    for situation in missing { say("never reached: \(situation.name): \(situation.sentence)") }
    let count = Situation.required.count
    conclude("\(count - missing.count) of \(count) situations reached")
    return missing.isEmpty
  }

  private func summary(_ outcome: Outcome) -> String {
    let tally = outcome.tally
    let seeds =
      "\(outcome.seeds) seeds, \(tally.steps) steps, \(outcome.violations.count) violations"
    guard options.isWhole else { return seeds }
    return """
      \(seeds)
      \(tally.jobs) jobs, \(tally.requests) requests, \(tally.edits) edits, \
      \(tally.kills) kills of devices (\(tally.powerLosses) in the middle of a write), \
      \(tally.restarts) restarts (\(tally.staleRestarts) from an older state), \
      \(tally.serverRestarts) restarts of the server
      \(tally.worldsOnDisk) worlds with the server in a file: killed \(tally.serverKills) times, \
      without power \(tally.serverPowerLosses) times
      """
  }

  /// Lets another process, in which hashes of collections differ, run the seeds again, and compares
  /// the hashes of the worlds.
  private func compare(_ hashes: [UInt64: UInt64]) throws -> Bool {
    guard !hashes.isEmpty else { return true }
    let words = try SimulateCommand.childWords([
      "--engine", "--seeds", "\(hashes.count)", "--from", "\(options.seeds.first)", "--hashes",
      "--jobs", "\(options.seeds.jobs)",
    ])
    let text = try Process.output(of: words, errors: FileHandle.standardError)
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
    conclude("\(equal) of \(hashes.count) seeds took the same course in a second process")
    return equal == hashes.count
  }
}
