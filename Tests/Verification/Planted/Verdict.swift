import Foundation
import VerificationSupport

/// The outcome of one process.
struct ProcessOutcome: Sendable {
  /// The exit status; negative for the signal that ended the process.
  var status: Int32
  /// The combined output.
  var output: String
  /// Whether the process was ended because it took too long.
  var tookTooLong = false

  /// Runs `arguments`, the first of which names the program, for at most `seconds`.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], seconds: Int
  ) throws -> ProcessOutcome {
    let pipe = Pipe()
    let process = try Process.start(
      arguments, environment: environment, output: pipe, errors: pipe)
    let end = DispatchWorkItem { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: end)
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    let status = process.end()
    end.cancel()
    return ProcessOutcome(
      status: status, output: String(decoding: data, as: UTF8.self),
      tookTooLong: status == -SIGKILL)
  }
}

/// The result of a detector's run with a fault.
struct Verdict: Sendable {
  /// The end of a run.
  enum End: Sendable {
    /// A violation in the last world.
    case violation(String)
    /// The last world ended the process.
    case trap(signal: Int32)
    /// No violation in any world.
    case nothing
    /// There was no time for more worlds.
    case tooLong
    /// The detector could not be run.
    case failure(String)
  }

  var detector: Detector
  var end: End
  /// The number of worlds, with the last one unless it was cut off.
  var seeds: Int

  /// Whether the fault was found.
  var isFound: Bool {
    switch end {
    case .violation, .trap: true
    case .nothing, .tooLong, .failure: false
    }
  }

  /// Whether worlds ran without a violation, as they must without a fault.
  var isHealthy: Bool {
    switch end {
    case .nothing, .tooLong: seeds > 0
    case .violation, .trap, .failure: false
    }
  }

  /// Reads the output of a detector.
  init(_ detector: Detector, _ outcome: ProcessOutcome) {
    self.detector = detector
    let lines = outcome.output.split(separator: "\n")
    seeds = lines.count { $0.hasPrefix("world ") }
    let words = lines.filter { !$0.hasPrefix("world ") }
    if outcome.tookTooLong {
      seeds = max(0, seeds - 1)
      end = .tooLong
    } else if outcome.status < 0 {
      end = .trap(signal: -outcome.status)
    } else if outcome.status == 1, let message = words.first {
      end = .violation(String(message))
    } else if outcome.status == 0 {
      end = .nothing
    } else {
      end = .failure(words.joined(separator: " "))
    }
  }
}
