import CommandLineKit
import Foundation
import SimulationSupport
import StoreSimulation
import Synchronization

/// Runs many simulations on several threads; the outcome does not depend on their number.
final class Fleet: Sendable {
  /// The outcome of all simulations of one kind.
  struct Outcome {
    var worlds = 0
    var edits = 0
    var requests = 0
    /// A hash of all simulations, independent of their order.
    var hash: UInt64 = 0
    var different: [UInt64] = []
    var violations: [StoreViolation] = []
  }

  private struct Progress {
    var next: UInt64
    var outcome = Outcome()
    var failure: LaneError?
  }

  private let kind: StoreKind
  private let options: Options
  private let progress: Mutex<Progress>
  private let output = Output(isJSON: false)

  init(_ kind: StoreKind, _ options: Options) {
    self.kind = kind
    self.options = options
    progress = Mutex(Progress(next: options.first))
  }

  /// Runs all simulations and waits for them.
  func run() throws -> Outcome {
    DispatchQueue.concurrentPerform(iterations: options.jobs) { _ in work() }
    output.endProgress()
    return try progress.withLock { progress in
      if let failure = progress.failure { throw failure }
      progress.outcome.violations.sort { $0.seed < $1.seed }
      progress.outcome.different.sort()
      return progress.outcome
    }
  }

  private func work() {
    let end = options.first &+ UInt64(options.count)
    while true {
      let seed = progress.withLock { progress -> UInt64? in
        guard progress.next < end, progress.failure == nil else { return nil }
        defer { progress.next += 1 }
        return progress.next
      }
      guard let seed else { return }
      do throws(LaneError) {
        let report = try options.run(kind, seed)
        let again = options.isTwice ? try options.run(kind, seed) : report
        note(report, isSame: again == report)
      } catch {
        progress.withLock { $0.failure = error }
      }
    }
  }

  private func note(_ report: StoreSimulation.Report, isSame: Bool) {
    let done = progress.withLock { progress in
      progress.outcome.worlds += 1
      progress.outcome.edits += report.edits
      progress.outcome.requests += report.requests
      progress.outcome.hash ^= report.hash
      if !isSame { progress.outcome.different.append(report.seed) }
      if let violation = report.violation { progress.outcome.violations.append(violation) }
      return progress.outcome.worlds
    }
    if done % 16 == 0 { output.progress("\(kind.name): \(done) of \(options.count) worlds") }
  }
}
