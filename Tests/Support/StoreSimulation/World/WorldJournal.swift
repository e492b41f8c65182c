import SimulationSupport
import Synchronization

/// What is told of a world while it runs; it survives a world that stands still.
final class WorldJournal: Sendable {
  private struct Contents {
    var report: StoreSimulation.Report
    var hash = TraceHash()
    var step = 0
    var doing = "the beginning"
  }

  private let contents: Mutex<Contents>
  /// The command that runs the world again.
  private let replay: String
  private let print: (@Sendable (String) -> Void)?

  init(_ report: StoreSimulation.Report, replay: String, print: (@Sendable (String) -> Void)?) {
    contents = Mutex(Contents(report: report))
    self.replay = replay
    self.print = print
  }

  /// What was told so far.
  var report: StoreSimulation.Report {
    contents.withLock { contents in
      contents.report.hash = contents.hash.value
      return contents.report
    }
  }

  /// Begins a step.
  func begin(_ step: Int) { contents.withLock { $0.step = step } }

  /// Says what happens.
  func say(_ line: String) {
    let step = contents.withLock { contents in
      contents.doing = line
      contents.hash.mix(line)
      return contents.step
    }
    print?("\(step): \(line)")
  }

  /// Notes a detail of what happens.
  func note(_ line: String) {
    contents.withLock { $0.hash.mix(line) }
    print?("    \(line)")
  }

  /// Counts an edit.
  func countEdit() { contents.withLock { $0.report.edits += 1 } }

  /// Notes how many requests there were.
  func note(requests: Int) { contents.withLock { $0.report.requests = requests } }

  /// Notes a promise that did not hold; the first counts.
  func fail(_ message: String) {
    contents.withLock { contents in
      guard contents.report.violation == nil else { return }
      contents.report.violation = StoreViolation(
        store: contents.report.store, seed: contents.report.seed, step: contents.step,
        message: "\(message); it was at: \(contents.doing)", replay: replay)
    }
  }
}
