import Synchronization

/// The log of a world, written by the world and by its apps: a hash of everything that happened, by
/// which two runs of one seed are compared, and lines for people.
final class WorldJournal: Sendable {
  private struct Contents {
    var step = 0
    var time = 0
    var hash = TraceHash()
    var lastSequence = 0
    var edits = 0
    var situations: [String: Int] = [:]
  }

  private let contents = Mutex(Contents())
  private let print: (@Sendable (String) -> Void)?

  init(print: (@Sendable (String) -> Void)?) { self.print = print }

  /// A number over everything that was told.
  var hash: UInt64 { contents.withLock { $0.hash.value } }

  /// The newest edit of the world, counted from 1.
  var lastSequence: Int { contents.withLock { $0.lastSequence } }

  /// The number of edits that people made.
  var edits: Int { contents.withLock { $0.edits } }

  /// Counts an edit, and gives it its number.
  func nextEdit() -> Int {
    contents.withLock { $0.edits += 1 }
    return nextSequence()
  }

  /// Gives the next edit or request of people its number.
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

  /// Takes a description into the hash.
  func mix(_ text: String) { contents.withLock { $0.hash.mix(text) } }

  /// Prints a line, if set.
  func note(_ text: @autoclosure () -> String) {
    guard let print else { return }
    let (step, time) = contents.withLock { ($0.step, $0.time) }
    print("\(step)\t\(time)ms\t\(text())")
  }
}
