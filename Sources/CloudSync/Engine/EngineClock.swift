import SyncMachine

/// Any clock, read as the time since the engine began; the machine knows no other time.
struct EngineClock: Sendable {
  /// How long since the engine began.
  let now: @Sendable () -> Moment

  /// Returns when the clock says `moment`, or throws when the task is cancelled.
  let sleep: @Sendable (_ until: Moment) async throws -> Void

  /// Begins at what `clock` says now.
  init(_ clock: any Clock<Duration>) {
    self = EngineClock.opened(clock)
  }

  private init(
    now: @escaping @Sendable () -> Moment,
    sleep: @escaping @Sendable (_ until: Moment) async throws -> Void
  ) {
    self.now = now
    self.sleep = sleep
  }

  private static func opened<Source: Clock>(_ clock: Source) -> EngineClock
  where Source.Duration == Duration {
    let origin = clock.now
    return EngineClock(
      now: { Moment(origin.duration(to: clock.now)) },
      sleep: { try await clock.sleep(until: origin.advanced(by: $0.sinceStart), tolerance: nil) })
  }
}
