import Foundation
import VerificationSupport

/// Runs the detectors of every fault on several cores.
struct PlantedRuns: Sendable {
  /// A fault's number, 0 for none, and its detectors.
  typealias Job = (number: Int, detectors: [Detector])

  private let options: Options
  private let program: URL
  private let end: Date

  /// - Parameter program: The tool with the faults in it.
  init(_ options: Options, program: URL) {
    self.options = options
    self.program = program
    end = Date(timeIntervalSinceNow: Double(options.seconds))
  }

  /// The verdicts on each job, in order; a detector runs only if those before it found nothing.
  func run(
    _ jobs: [Job], seeds: Int, done: @escaping @Sendable (Int, [Verdict]) -> Void
  ) throws -> [[Verdict]] {
    try runOnThreads(options.jobs, count: jobs.count, into: jobs.map { _ in [] }) { index in
      var verdicts: [Verdict] = []
      for detector in jobs[index].detectors {
        verdicts.append(
          checked(run(detector, fault: jobs[index].number, seeds: seeds), jobs[index].number))
        if verdicts.last?.isFound == true { break }
      }
      return verdicts
    } combine: { outcome, index, verdicts in
      outcome[index] = verdicts
      done(index, verdicts)
    }
  }

  /// The verdict, unless its last world has a violation without the fault as well.
  private func checked(_ verdict: Verdict, _ number: Int) -> Verdict {
    guard verdict.isFound, number != 0 else { return verdict }
    let last = verdict.seeds - 1
    let control = run(verdict.detector, fault: 0, seeds: 1, from: last)
    guard !control.isHealthy else { return verdict }
    var verdict = verdict
    verdict.finding = .failure
    verdict.text = "could not be run: world \(last) is no better without the fault"
    return verdict
  }

  private func run(
    _ detector: Detector, fault number: Int, seeds: Int, from first: Int = 0
  ) -> Verdict {
    let left = Int(end.timeIntervalSinceNow)
    do {
      let outcome =
        left < 1
        ? ProcessOutcome(status: -SIGKILL, output: "", tookTooLong: true)
        : try ProcessOutcome.run(
          [program.path] + detector.arguments
            + ["--until-violation", "--seeds", "\(seeds)", "--from", "\(first)"],
          environment: [Planter.variable: "\(number)"], seconds: min(left, options.runSeconds))
      return Verdict(detector, outcome)
    } catch {
      return Verdict(detector, ProcessOutcome(status: 2, output: "\(error)"))
    }
  }
}
