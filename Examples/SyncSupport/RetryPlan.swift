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
}
