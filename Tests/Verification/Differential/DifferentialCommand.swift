import CommandLineKit
import Foundation
package import VerificationSupport

/// The command `differential` of the verification tool.
package let differentialCommand: any VerificationCommand.Type = DifferentialCommand.self

/// Compares clouds that must answer alike.
enum DifferentialCommand: VerificationCommand {
  static let name = "differential"
  static let summary = "random requests to clouds that must answer alike"
  static let usage = """
    usage: cloudsync-verify differential [--tapes N] [--from S] [--steps K] [--jobs J] [--show N]
           [--trace] [--counts] [--plant NAME]

    Sends random sequences of requests (tapes) to clouds whose responses must be equal: a small
    reference implementation, the server in memory, the server on SQLite, the server over HTTP, and
    in a program with the trait PostgreSQL, run by .ci/postgresql, the server on PostgreSQL.
      --tapes N     the number of tapes, 1 to 10,000,000 (5000)
      --from S      the seed of the first (0)
      --steps K     the steps of each tape, 1 to 10,000 (40)
      --jobs J      the number of parallel tapes, 1 to 256 (one for each core)
      --show N      the number of differences to print, 0 to 1000 (5)
      --trace       print the requests before a difference as well
      --counts      print the count of each situation
      --plant NAME  add a difference: \(Plant.allCases.map(\.rawValue).joined(separator: ", "))
    Exit code: 0 if all responses were equal, 1 if not, or if at least 1,000 tapes did not reach every
    situation, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    try await run(Options(&arguments))
  }

  /// Returns whether the responses of all clouds were equal.
  private static func run(_ options: Options) async throws -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let outcome = try await options.comparison.run()
    for difference in outcome.differences.prefix(options.shown) {
      if options.wantsTrace { print(difference.trace) }
      print(difference)
    }
    let seconds = (clock.now - start) / .seconds(1)
    conclude(
      "\(outcome.tapes) tapes, \(outcome.steps) steps on each of \(Stage.count) clouds, "
        + "\(outcome.differences.count) with differences, \(Int(seconds.rounded())) s")
    if options.wantsCounts {
      for (name, count) in outcome.situations.sorted(by: { $0.key < $1.key }) {
        print("  \(name): \(count)")
      }
    }
    let missed = outcome.missed
    let reached = Situation.required.count - missed.count
    conclude("\(reached) of \(Situation.required.count) situations reached")
    if !missed.isEmpty { print("not reached: \(missed.joined(separator: ", "))") }
    // A few tapes need not reach everything.
    return outcome.differences.isEmpty && (missed.isEmpty || outcome.tapes < 1_000)
  }
}

/// The options of the command line.
struct Options {
  var comparison = Comparison(
    seeds: 0..<5_000, jobs: ProcessInfo.processInfo.activeProcessorCount)
  /// The number of differences to print.
  var shown = 5
  /// Whether everything before a difference is printed too.
  var wantsTrace = false
  /// Whether the counts of all situations are printed.
  var wantsCounts = false

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    let count = try arguments.number("tapes", in: 1...10_000_000) ?? 5_000 as UInt64
    let first = try arguments.seed("from") ?? 0
    comparison.seeds = first..<first + count
    comparison.steps = try arguments.number("steps", in: 1...10_000) ?? comparison.steps
    comparison.jobs = try arguments.number("jobs", in: 1...256) ?? comparison.jobs
    comparison.plant = try arguments.choice("plant", of: Plant.self)
    shown = try arguments.number("show", in: 0...1_000) ?? shown
    wantsTrace = arguments.flag("trace")
    wantsCounts = arguments.flag("counts")
    try arguments.end()
  }
}
