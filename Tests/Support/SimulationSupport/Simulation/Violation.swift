import Synchronization

/// A violation of an invariant.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The seed of the world.
  package var seed: UInt64
  /// The step at which it was seen.
  package var step: Int
  /// The invariant's short name, such as `I3`.
  package var invariant: String
  /// A description of the violation.
  package var message: String
  /// The command that shows it again.
  package var replay: String

  /// A description in one line.
  package var description: String {
    "seed \(seed), step \(step): \(invariant): \(message)\n  replay: \(replay)"
  }
}

/// The violations that checkers report; the first one of a world counts.
///
/// May be used from any thread: the apps of a world report from their callbacks.
final class Findings: Sendable {
  /// A report without the world's particulars.
  struct Finding {
    var step: Int
    var invariant: String
    var message: String
  }

  private struct Contents {
    var step = 0
    var found: [Finding] = []
  }

  private let contents = Mutex(Contents())

  /// The world's step, kept up to date by the world.
  var step: Int {
    get { contents.withLock { $0.step } }
    set { contents.withLock { $0.step = newValue } }
  }

  /// The violations so far.
  var found: [Finding] { contents.withLock { $0.found } }

  /// Whether nothing was found so far.
  var isEmpty: Bool { contents.withLock { $0.found.isEmpty } }

  /// Notes a violation; only the first few are kept.
  func report(_ invariant: String, _ message: @autoclosure () -> String) {
    guard found.count < 4 else { return }
    let message = message()
    contents.withLock { contents in
      contents.found.append(
        Finding(step: contents.step, invariant: invariant, message: message))
    }
  }
}
