import Foundation
import VerificationSupport

/// The outcome of one process.
package struct ProcessOutcome: Sendable {
  /// The exit status; negative for the signal that ended the process.
  package var status: Int32
  /// The combined output.
  package var output: String
  /// Whether the process was ended because it took too long.
  package var tookTooLong = false

  /// Runs `arguments`, the first of which names the program, for at most `seconds`.
  package static func run(
    _ arguments: [String], environment: [String: String] = [:], seconds: Int
  ) throws -> ProcessOutcome {
    let pipe = Pipe()
    // The program that prints a backtrace can hang, which keeps the output open.
    let quiet = ["SWIFT_BACKTRACE": "enable=no"]
    let process = try Process.start(
      arguments, environment: quiet.merging(environment) { $1 }, output: pipe, errors: pipe)
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
