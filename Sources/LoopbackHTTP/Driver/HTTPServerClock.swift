/// A clock that measures the time since the server started.
struct HTTPServerClock: Sendable {
  /// The time since the server started.
  let elapsed: @Sendable () -> Duration
  /// Sleeps for the given duration; throws if the task is cancelled.
  let pause: @Sendable (Duration) async throws -> Void

  /// Starts at the current time of `clock`.
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
