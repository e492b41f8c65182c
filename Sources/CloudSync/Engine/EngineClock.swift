import Foundation
import SyncMachine

/// A clock that also decides what the engine would leave to chance, so that a simulation can
/// repeat what it saw.
package protocol RandomizingClock: Clock<Duration> {
  /// A number from 0 up to 1, which takes the place of a random one.
  func nextFraction() -> Double

  /// A name that was never given before, which takes the place of a random one.
  func nextName() -> String
}

/// Any clock, read as the time since the engine began; the machine knows no other time.
struct EngineClock: Sendable {
  /// How long since the engine began.
  let now: @Sendable () -> Moment

  /// Returns when the clock says `moment`, or throws when the task is cancelled.
  let sleep: @Sendable (_ until: Moment) async throws -> Void

  /// A number from 0 up to 1 for a wait to be spread by.
  let jitter: @Sendable () -> Double

  /// A name that no other run has.
  let session: @Sendable () -> String

  /// Begins at what `clock` says now.
  init(_ clock: any Clock<Duration>) {
    self = EngineClock.opened(clock)
  }

  private init(
    now: @escaping @Sendable () -> Moment,
    sleep: @escaping @Sendable (_ until: Moment) async throws -> Void,
    jitter: @escaping @Sendable () -> Double, session: @escaping @Sendable () -> String
  ) {
    self.now = now
    self.sleep = sleep
    self.jitter = jitter
    self.session = session
  }

  private static func opened<Source: Clock>(_ clock: Source) -> EngineClock
  where Source.Duration == Duration {
    let origin = clock.now
    let chance = clock as? any RandomizingClock
    return EngineClock(
      now: { Moment(origin.duration(to: clock.now)) },
      sleep: { try await clock.sleep(until: origin.advanced(by: $0.sinceStart), tolerance: nil) },
      jitter: { chance?.nextFraction() ?? .random(in: 0..<1) },
      session: { chance?.nextName() ?? UUID().uuidString })
  }
}
