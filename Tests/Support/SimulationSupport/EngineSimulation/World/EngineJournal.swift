import SyncMachine
import Synchronization

/// The log of a world, written by the world and by its apps.
final class EngineJournal: Sendable {
  private struct Contents {
    var step = 0
    var time = 0
    var hash = TraceHash()
    var lastSequence = 0
    var situations: [String: Int] = [:]
  }

  private let contents = Mutex(Contents())
  private let print: (@Sendable (String) -> Void)?

  init(print: (@Sendable (String) -> Void)?) { self.print = print }

  /// A number over everything that was told.
  var hash: UInt64 { contents.withLock { $0.hash.value } }

  /// The newest edit of the world, counted from 1.
  var lastSequence: Int { contents.withLock { $0.lastSequence } }

  /// Gives the next edit its number.
  func nextSequence() -> Int {
    contents.withLock { contents in
      contents.lastSequence += 1
      return contents.lastSequence
    }
  }

  /// The number of times that apps and devices reached each situation.
  var situations: [String: Int] { contents.withLock { $0.situations } }

  /// Counts a situation.
  func reach(_ name: String) { contents.withLock { $0.situations[name, default: 0] += 1 } }

  /// Begins a step at a time in milliseconds.
  func begin(_ step: Int, at time: Int) {
    contents.withLock { contents in
      contents.step = step
      contents.time = time
      contents.hash.mix(time)
    }
  }

  /// Takes a number into the hash.
  func mix(_ number: Int) { contents.withLock { $0.hash.mix(number) } }

  /// Takes what an app is told into the hash.
  func mix(_ event: SyncEvent) { contents.withLock { $0.hash.mix(event) } }

  /// Prints a line, if set.
  func note(_ text: @autoclosure () -> String) {
    guard let print else { return }
    let (step, time) = contents.withLock { ($0.step, $0.time) }
    print("\(step)\t\(time)ms\t\(text())")
  }
}
