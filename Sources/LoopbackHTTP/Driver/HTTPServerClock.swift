/// Any clock, read as the time since the server began.
struct HTTPServerClock: Sendable {
  /// How long since the server began.
  let elapsed: @Sendable () -> Duration
  /// Returns after so long, or throws when the task is cancelled.
  let pause: @Sendable (Duration) async throws -> Void

  /// Begins at what `clock` says now.
  init(_ clock: any Clock<Duration>) { self = HTTPServerClock.opened(clock) }

  private init(
    elapsed: @escaping @Sendable () -> Duration,
    pause: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.elapsed = elapsed
    self.pause = pause
  }

  private static func opened<Source: Clock>(_ clock: Source) -> HTTPServerClock
  where Source.Duration == Duration {
    let origin = clock.now
    return HTTPServerClock(
      elapsed: { origin.duration(to: clock.now) },
      pause: { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) })
  }
}
