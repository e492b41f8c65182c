import Foundation
import VerificationSupport

/// The result of a detector's run with a fault.
struct Verdict: Sendable {
  /// The kinds of results.
  enum Finding: Sendable {
    /// The last world has a violation, or ended the process.
    case fault
    /// No world has a violation, though there may have been no time for all of them.
    case nothing
    /// The detector could not be run.
    case failure
  }

  var detector: Detector
  var finding: Finding
  /// The number of worlds, with the last one unless it was cut off.
  var seeds: Int
  /// The violation, or the reason for another end.
  var text: String

  /// Whether the fault was found.
  var isFound: Bool { finding == .fault }

  /// Whether worlds ran without a violation, as they must without a fault.
  var isHealthy: Bool { finding == .nothing && seeds > 0 }

  /// Reads the output of a detector.
  init(_ detector: Detector, _ outcome: ProcessOutcome) {
    self.detector = detector
    let lines = outcome.output.split(separator: "\n")
    let worlds = lines.count { $0.hasPrefix("world ") }
    let words = lines.filter { !$0.hasPrefix("world ") }
    seeds = outcome.tookTooLong ? max(0, worlds - 1) : worlds
    if outcome.tookTooLong {
      (finding, text) = (.nothing, "no time after \(seeds) seeds")
    } else if outcome.status < 0 {
      (finding, text) = (.fault, "ended by signal \(-outcome.status)")
    } else if outcome.status == 1,
      let message = words.first(where: { $0.hasPrefix("violation: ") }) ?? words.first
    {
      (finding, text) = (.fault, String(message))
    } else if outcome.status == 0 {
      (finding, text) = (.nothing, "\(seeds) seeds without a violation")
    } else {
      (finding, text) = (.failure, "could not be run: \(words.joined(separator: " "))")
    }
  }
}
