import SyncedStore

/// How a failed attempt is repeated: after 2, 4 and 8 seconds, and then no more until something
/// new happens.
///
/// A value without a clock: whoever uses it does the waiting. What needs the person, such as full
/// storage, is not asked of a plan at all.
public struct RetryPlan: Hashable, Sendable {
  /// The waits, first to last.
  public let delays: [Duration]

  /// How many retries were begun since the last success.
  public private(set) var retries = 0

  /// A plan with the waits `delays`.
  public init(delays: [Duration] = [.seconds(2), .seconds(4), .seconds(8)]) {
    self.delays = delays
  }

  /// Whether the plan has been used up: no retry follows until `reset()`.
  public var isExhausted: Bool { retries >= delays.count }

  /// How long to wait before the next retry, which counts as begun; `nil` to stop.
  ///
  /// - Parameter serverDelay: the seconds the server asked for; a longer wait than the plan's is
  ///   obeyed, up to a day.
  public mutating func next(serverDelay: Double? = nil) -> Duration? {
    guard !isExhausted else { return nil }
    let delay = delays[retries]
    retries += 1
    guard let seconds = serverDelay, seconds.isFinite, seconds > 0 else { return delay }
    return max(delay, .seconds(min(seconds, 86_400)))
  }

  /// Begins anew after a success, or when the person or the world asks.
  public mutating func reset() {
    retries = 0
  }

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
