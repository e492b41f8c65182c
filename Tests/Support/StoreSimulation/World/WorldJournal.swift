import SimulationSupport
import Synchronization

/// What is told of a world while it runs; it survives a world that stands still.
final class WorldJournal: Sendable {
  /// The first promise that did not hold.
  struct Failure {
    var step: Int
    var doing: String
    var message: String
  }

  /// What was told so far.
  struct Record {
    var step = 0
    var doing = "the beginning"
    var requests = 0
    var edits = 0
    var hash = TraceHash()
    var failure: Failure?
  }

  private let contents = Mutex(Record())
  private let print: (@Sendable (String) -> Void)?

  init(print: (@Sendable (String) -> Void)?) { self.print = print }

  var record: Record { contents.withLock { $0 } }

  /// Begins a step.
  func begin(_ step: Int) { contents.withLock { $0.step = step } }

  /// Says what happens.
  func say(_ line: String) {
    let step = contents.withLock { record in
      record.doing = line
      record.hash.mix(line)
      return record.step
    }
    print?("\(step): \(line)")
  }

  /// Notes a detail of what happens.
  func note(_ line: String) {
    contents.withLock { $0.hash.mix(line) }
    print?("    \(line)")
  }

  /// Counts an edit.
  func countEdit() { contents.withLock { $0.edits += 1 } }

  /// Notes how many requests there were.
  func note(requests: Int) { contents.withLock { $0.requests = requests } }

  /// Notes a promise that did not hold; the first counts.
  func fail(_ message: String) {
    contents.withLock { record in
      guard record.failure == nil else { return }
      record.failure = Failure(step: record.step, doing: record.doing, message: message)
    }
  }
}
