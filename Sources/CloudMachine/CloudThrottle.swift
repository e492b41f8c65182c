package import CloudProtocol
package import Records

/// Counts how often callers ask, and turns away those who ask too often.
///
/// A value that the server keeps beside the storage and passes in; what it remembers is lost at
/// a restart, as it may be. The first refusal of a window says `serviceUnavailable`, later ones
/// `requestRateLimited`, both with the seconds left. Source: cloudkit-surface 2.8.
package struct CloudThrottle: Hashable, Sendable {
  /// How often one caller may ask.
  package struct Rate: Hashable, Sendable {
    /// Who counts as one caller.
    package enum Key: UInt8, Hashable, Sendable {
      /// All devices of an account together; without an account, each device.
      case user
      /// Each device.
      case device
    }

    /// Requests allowed in a window, at least 1.
    package var requests: Int
    /// The length of a window in seconds.
    package var window: Double
    /// Who counts as one caller.
    package var key: Key

    /// Allows `requests` in `window` seconds.
    package init(requests: Int, window: Double, key: Key = .user) {
      self.requests = requests
      self.window = window
      self.key = key
    }
  }

  fileprivate struct Window: Hashable, Sendable {
    var start: Double
    var requests = 0
    var wasRefused = false
  }

  private enum Party: Hashable, Sendable {
    case user(UserID)
    case device(String)
  }

  private var windows: [Party: Window] = [:]

  /// Nobody has asked yet.
  package init() {}

  /// Counts a request of `caller` at `now` and says why it is refused, or `nil` to let it in.
  package mutating func refusal(
    of caller: Caller, now: Timestamp, rate: Rate
  ) -> CloudError? {
    let now = now.secondsSinceReferenceDate
    let party: Party =
      if rate.key == .user, let user = caller.user { .user(user) } else { .device(caller.device) }
    if windows.count > 10_000 { windows = windows.filter { $0.value.covers(now, rate) } }
    var window = windows[party] ?? Window(start: now)
    if !window.covers(now, rate) { window = Window(start: now) }
    defer { windows[party] = window }
    guard window.requests >= max(1, rate.requests) else {
      window.requests += 1
      return nil
    }
    let code: CloudError.Code = window.wasRefused ? .requestRateLimited : .serviceUnavailable
    window.wasRefused = true
    return CloudError(
      code, "too many requests; wait before asking again",
      retryAfter: window.start + rate.window - now)
  }
}

extension CloudThrottle.Window {
  /// Whether `now` lies in the window; a clock set back ends it, so that nobody waits for ever.
  fileprivate func covers(_ now: Double, _ rate: CloudThrottle.Rate) -> Bool {
    now >= start && now < start + rate.window
  }
}
