import Foundation
import SimulationSupport
import Synchronization

/// Runs many seeds on several threads; the outcome does not depend on how many.
final class Fleet: Sendable {
  /// What became of one seed.
  struct Report: Sendable {
    var seed: UInt64
    var steps: Int
    var hash: UInt64
    var violation: Violation?
    var tally = EngineTally()
  }

  /// What became of all seeds.
  struct Outcome {
    var seeds = 0
    var steps = 0
    var violationCount = 0
    /// The first violations, by seed.
    var violations: [Violation] = []
    var tally = EngineTally()
    /// The traces' numbers of the seeds below `keepsHashesBelow`.
    var hashes: [UInt64: UInt64] = [:]
  }

  private struct Progress {
    var next: UInt64
    var outcome = Outcome()
  }

  /// From so many seeds on a log says how far a run is.
  private static let manySeeds = 10_000

  private let seeds: Range<UInt64>
  private let jobs: Int
  private let keepsHashesBelow: UInt64
  private let run: @Sendable (UInt64) -> Report
  private let progress: Mutex<Progress>
  private let showsProgress = isatty(STDERR_FILENO) != 0

  init(
    seeds: Range<UInt64>, jobs: Int, keepsHashesBelow: UInt64 = 0,
    run: @escaping @Sendable (UInt64) -> Report
  ) {
    self.seeds = seeds
    self.jobs = jobs
    self.keepsHashesBelow = keepsHashesBelow
    self.run = run
    progress = Mutex(Progress(next: seeds.lowerBound))
  }

  /// Runs all seeds and waits for them.
  func wait() -> Outcome {
    // Each worker takes the next chunk until none is left: worlds differ in length.
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in work() }
    if showsProgress { show("\r\u{1b}[K") }
    var outcome = progress.withLock { $0.outcome }
    outcome.violations.sort { $0.seed < $1.seed }
    return outcome
  }

  private func work() {
    let chunk: UInt64 = 16
    while true {
      let range = progress.withLock { progress in
        let first = progress.next
        progress.next = min(first + chunk, seeds.upperBound)
        return first..<progress.next
      }
      if range.isEmpty { return }
      for seed in range { take(run(seed)) }
    }
  }

  private func take(_ report: Report) {
    let done = progress.withLock { progress in
      progress.outcome.seeds += 1
      progress.outcome.steps += report.steps
      progress.outcome.tally.add(report.tally)
      if report.seed < keepsHashesBelow { progress.outcome.hashes[report.seed] = report.hash }
      if let violation = report.violation {
        progress.outcome.violationCount += 1
        if progress.outcome.violations.count < 1_000 {
          progress.outcome.violations.append(violation)
        }
      }
      return progress.outcome.seeds
    }
    if let violation = report.violation {
      // A run of an hour is looked into at once.
      show("\(showsProgress ? "\r\u{1b}[K" : "")\(violation)\n")
    }
    let text = "\(done) of \(seeds.count) seeds"
    if showsProgress {
      if done % 64 == 0 { show("\r" + text) }
    } else if seeds.count >= Fleet.manySeeds, done % (seeds.count / 10) == 0, done < seeds.count {
      // Whoever reads a log of a long run wants to know how far it is.
      show(text + "\n")
    }
  }

  private func show(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
