package import CloudProtocol
package import Records

/// A rate limiter: counts the requests of each caller per window and rejects those above the limit.
///
/// The server keeps the value in memory and passes it in; its counts may be lost at a restart. A
/// storage that several servers share counts for all of them, and `ServerLimits.Throttle` decides
/// on its count. The first rejection in a window is `serviceUnavailable`, later ones are
/// `requestRateLimited`, both with the remaining seconds. Rules: CS-171 to CS-173.
package struct CloudThrottle: Hashable, Sendable {
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
  /// The number of windows from which those that are over are removed; it doubles while most are
  /// not, so that the removal costs nothing for each request.
  private var mostWindows = 10_000

  /// Creates a rate limiter without counts.
  package init() {}

  /// Counts a request of `caller` at `now`; returns the error if it is rejected, `nil` if it is
  /// allowed.
  package mutating func refusal(
    of caller: Caller, now: Timestamp, rate: ServerLimits.Throttle
  ) -> CloudError? {
    let now = now.secondsSinceReferenceDate
    let party = caller.user.map { Party.user($0) } ?? .device(caller.device)
    if windows.count > mostWindows {
      windows = windows.filter { $0.value.covers(now, rate) }
      mostWindows = max(10_000, 2 * windows.count)
    }
    var window = windows[party] ?? Window(start: now)
    if !window.covers(now, rate) { window = Window(start: now) }
    defer { windows[party] = window }
    guard window.requests >= max(1, rate.requests) else {
      window.requests += 1
      return nil
    }
    defer { window.wasRefused = true }
    return CloudThrottle.refusal(
      isFirst: !window.wasRefused, remaining: window.start + rate.seconds - now)
  }

  fileprivate static func refusal(isFirst: Bool, remaining: Double) -> CloudError {
    CloudError(
      isFirst ? .serviceUnavailable : .requestRateLimited,
      "too many requests; wait before asking again", retryAfter: remaining)
  }
}

extension ServerLimits.Throttle {
  /// The key under which a storage counts a caller's requests; each rate has its own counts.
  func key(account: String?, device: String) -> String {
    "\(requests) in \(seconds): " + (account.map { "account \($0)" } ?? "device \(device)")
  }

  /// The error for a request that a storage counted; `nil` if it is allowed.
  func refusal(of counted: CountedRequest) -> CloudError? {
    let most = max(1, requests)
    guard counted.number > most else { return nil }
    return CloudThrottle.refusal(
      isFirst: counted.number == most + 1, remaining: min(max(0, counted.remaining), seconds))
  }
}

extension CloudThrottle.Window {
  /// Whether `now` is in the window; setting the clock back ends the window, so that no caller
  /// waits forever.
  fileprivate func covers(_ now: Double, _ rate: ServerLimits.Throttle) -> Bool {
    now >= start && now < start + rate.seconds
  }
}
