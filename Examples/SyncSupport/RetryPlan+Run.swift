import SyncedStore

extension RetryPlan {
  /// Three attempts in all, one second and two seconds apart.
  public static let threeAttempts = RetryPlan(delays: [.seconds(1), .seconds(2)])

  /// Whether an error may pass by itself within seconds.
  ///
  /// So do a missing network, one that failed, and a service that is busy or asks to slow down;
  /// nothing else.
  public static func isPassing(_ error: any Error) -> Bool {
    let passing: [CKError.Code] = [
      .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
    ]
    return (error as? CKError).map { passing.contains($0.code) } ?? false
  }

  /// Whether an error is of the kind that the engine retries by itself.
  public static func isRetried(_ error: any Error) -> Bool {
    (error as? CKError)?.isRetried ?? false
  }

  /// Runs `operation` until it succeeds, fails for good, or the plan is used up.
  ///
  /// - Parameters:
  ///   - clock: measures the waits; what the server asks for is obeyed when it is longer.
  ///   - isPassing: which errors are worth another attempt.
  /// - Throws: the last error of `operation`, or `CancellationError`.
  public func run<Result>(
    clock: any Clock<Duration>, isPassing: (any Error) -> Bool = Self.isPassing,
    _ operation: () async throws -> Result
  ) async throws -> Result {
    var plan = self
    while true {
      do {
        return try await operation()
      } catch {
        let serverDelay = (error as? CKError)?.retryAfterSeconds
        guard isPassing(error), let delay = plan.next(serverDelay: serverDelay) else { throw error }
        try await clock.sleep(for: delay)
      }
    }
  }
}
