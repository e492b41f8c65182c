import Foundation
import SyncMachine

/// A clock that also supplies the engine's random values, so that a simulation is reproducible.
package protocol RandomizingClock: Clock<Duration> {
  /// Returns a number in 0..<1 in place of a random one.
  func nextFraction() -> Double

  /// Returns a unique name in place of a random one.
  func nextName() -> String
}

/// A clock of any type, read as the time since the engine started.
struct EngineClock: Sendable {
  /// The time since the engine started.
  let now: @Sendable () -> Moment

  /// Suspends until the given moment; throws when the task is cancelled.
  let sleep: @Sendable (_ until: Moment) async throws -> Void

  /// A random number in 0..<1 for back-off delays.
  let jitter: @Sendable () -> Double

  /// A name that is unique to this run.
  let session: @Sendable () -> String

  /// Creates a clock that starts at the current time of `clock`.
  init(_ clock: some Clock<Duration>) {
    let origin = clock.now
    let chance = clock as? any RandomizingClock
    now = { Moment(origin.duration(to: clock.now)) }
    sleep = { try await clock.sleep(until: origin.advanced(by: $0.sinceStart), tolerance: nil) }
    jitter = { chance?.nextFraction() ?? .random(in: 0..<1) }
    session = { chance?.nextName() ?? UUID().uuidString }
  }
}
