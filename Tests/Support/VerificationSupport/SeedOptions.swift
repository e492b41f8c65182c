package import CommandLineKit
import Foundation
import Synchronization

/// The options of a command that runs a world for each of many seeds.
package struct SeedOptions: Sendable {
  /// The number of seeds.
  package var count: Int
  /// The first seed.
  package var first: UInt64
  /// The number of threads.
  package var jobs: Int
  /// The only seed to run, instead of many.
  package var seed: UInt64?
  /// Whether the worlds run one after the other, up to the first violation.
  package var endsAtViolation: Bool
  /// Whether everything that happens in the world of `seed` is printed.
  package var wantsTrace: Bool

  /// Reads `--seeds`, `--from`, `--jobs`, `--seed`, `--until-violation` and `--trace`.
  ///
  /// - Parameters:
  ///   - count: the number of seeds without `--seeds`.
  ///   - most: the largest number of seeds.
  package init(
    _ arguments: inout Arguments, count: Int, most: Int
  ) throws(UsageError) {
    self.count = try arguments.number("seeds", in: 1...most) ?? count
    first = try arguments.seed("from") ?? 0
    jobs =
      try arguments.number("jobs", in: 1...256) ?? ProcessInfo.processInfo.activeProcessorCount
    seed = try arguments.seed("seed")
    endsAtViolation = arguments.flag("until-violation")
    wantsTrace = arguments.flag("trace")
    if wantsTrace, seed == nil { throw UsageError("--trace needs --seed") }
  }

  /// The seeds, in order.
  package var seeds: Range<UInt64> { first..<first &+ UInt64(count) }

  /// Runs `body` for every seed on several threads, and combines the results; shows progress.
  ///
  /// - Parameters:
  ///   - label: the first word of the progress.
  ///   - combine: Adds a result to the outcome, and returns what is shown at once; it is never
  ///     called twice at the same time.
  /// - Throws: The first error of `body`, after which no further seed begins.
  package func run<Value, Outcome: Sendable>(
    _ label: String = "", into initial: Outcome,
    _ body: @Sendable (UInt64) throws -> Value,
    combine: @Sendable (inout Outcome, Value) -> String?
  ) throws -> Outcome {
    let output = Output(isJSON: false)
    let count = count
    defer { output.endProgress() }
    return try runOnThreads(jobs, count: count, into: (initial, done: 0)) { number in
      try body(first &+ UInt64(number))
    } combine: { progress, _, value in
      progress.done += 1
      if let line = combine(&progress.0, value) {
        output.endProgress()
        output.note(line)
      }
      let text = label + "\(progress.done) of \(count) seeds"
      if progress.done % 16 == 0 { output.progress(text) }
      // The log of a long run shows how far it is.
      let isTenth = count >= 10_000 && progress.done % (count / 10) == 0
      if isTenth, !output.isTerminal { output.note(text) }
    }.0
  }

  /// Runs world after world up to the first violation, and prints it.
  ///
  /// Prints the number of each world before it begins, so that the output shows which world ended
  /// the process.
  ///
  /// - Returns: Whether there was no violation.
  package func runUntilViolation(
    _ violation: (UInt64) async throws -> (any CustomStringConvertible)?
  ) async rethrows -> Bool {
    for seed in seeds {
      say("world \(seed)")
      guard let violation = try await violation(seed) else { continue }
      say("\(violation)")
      return false
    }
    return true
  }
}

/// Calls `body` with the numbers below `count` on `jobs` threads, and combines the results.
///
/// - Parameter combine: Adds a result to the outcome; it is never called twice at the same time.
/// - Throws: The first error of `body`, after which no further number begins.
package func runOnThreads<Value, Outcome: Sendable>(
  _ jobs: Int, count: Int, into initial: Outcome,
  _ body: @Sendable (Int) throws -> Value,
  combine: @Sendable (inout Outcome, Int, Value) -> Void
) throws -> Outcome {
  let progress = Mutex(ThreadProgress(outcome: initial))
  DispatchQueue.concurrentPerform(iterations: min(jobs, max(1, count))) { _ in
    while true {
      let number = progress.withLock { progress in
        defer { progress.next += 1 }
        return progress.failure == nil ? progress.next : count
      }
      guard number < count else { return }
      do {
        let value = try body(number)
        progress.withLock { combine(&$0.outcome, number, value) }
      } catch {
        progress.withLock { $0.failure = $0.failure ?? error }
      }
    }
  }
  return try progress.withLock { progress in
    if let failure = progress.failure { throw failure }
    return progress.outcome
  }
}

private struct ThreadProgress<Outcome: Sendable>: Sendable {
  var next = 0
  var outcome: Outcome
  var failure: (any Error)?
}
