import CommandLineKit
import Foundation
import SimulationSupport
import StoreSimulation
import Synchronization

/// Runs many worlds on several threads; the outcome does not depend on how many.
final class Fleet: Sendable {
  /// What became of all worlds of one kind.
  struct Outcome {
    var worlds = 0
    var edits = 0
    var requests = 0
    /// A number over all worlds, whatever their order.
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
  private let folder: URL
  private let progress: Mutex<Progress>
  private let output = Output(isJSON: false)

  init(_ kind: StoreKind, _ options: Options, in folder: URL) {
    self.kind = kind
    self.options = options
    self.folder = folder
    progress = Mutex(Progress(next: options.first))
  }

  /// Runs all worlds and waits for them.
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
        let report = try StoreSimulation.run(
          kind, seed: seed, isShort: options.isShort, bug: options.bug, in: folder)
        var isSame = true
        if options.isTwice {
          let again = try StoreSimulation.run(
            kind, seed: seed, isShort: options.isShort, bug: options.bug, in: folder)
          isSame = again == report
        }
        note(report, isSame: isSame)
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
