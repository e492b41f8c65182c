/// A promise that did not hold, and where.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The seed of the world.
  package var seed: UInt64
  /// The step at which it was seen.
  package var step: Int
  /// The invariant's short name, such as `I3`.
  package var invariant: String
  /// What was seen.
  package var message: String
  /// The command that shows it again.
  package var replay: String

  /// One line for people.
  package var description: String {
    "seed \(seed), step \(step): \(invariant): \(message)\n  replay: \(replay)"
  }
}

/// Where checkers report what they saw; the first report of a world is the one that counts.
final class Findings {
  /// A report without the world's particulars.
  struct Finding {
    var step: Int
    var invariant: String
    var message: String
  }

  /// The world's step, kept up to date by the world.
  var step = 0
  private(set) var found: [Finding] = []

  /// Whether nothing was found so far.
  var isEmpty: Bool { found.isEmpty }

  /// Notes a violation; only the first few are kept.
  func report(_ invariant: String, _ message: @autoclosure () -> String) {
    guard found.count < 4 else { return }
    found.append(Finding(step: step, invariant: invariant, message: message()))
  }
}
