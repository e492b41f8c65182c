package import Records

/// The settings of an HTTP server: its address, time limits and size limits.
///
/// Time limits are measured with `clock` and checked once a second, so a limit of ten seconds takes
/// effect after ten to eleven.
package struct HTTPServerOptions: Sendable {
  /// The address to listen on, such as `0.0.0.0` or `::` for all of this machine, or a name that
  /// resolves to one.
  package var host: String
  /// The port to listen on, 0 to 65535; 0 takes any free one.
  package var port: Int
  /// The size limits of a request.
  package var limits = HTTPLimits()
  /// The time limit for the header of a request, from its first byte; then 408.
  ///
  /// On a new connection the time starts with the connection. It is also the grace period of a body
  /// before its rate is checked.
  package var headerTime: Duration = .seconds(10)
  /// The minimum rate of a body, in bytes per second, at least 1; a slower body gets 408.
  package var bodyBytesPerSecond = 1000
  /// The time limit of an open connection between two requests.
  package var idleTime: Duration = .seconds(60)
  /// The time limit for a client that accepts no bytes of a pending response, or sends none of a
  /// body; the latter gets 408.
  package var stallTime: Duration = .seconds(30)
  /// The maximum number of bytes in memory of the bodies of all requests; a request with more than
  /// 64 KiB that exceeds it gets 503.
  package var bodyMemory = 512 << 20
  /// The maximum number of connections, at least 1; further ones get 503.
  package var connections = 2048
  /// The time limit of running requests after `stop()`; then they are cancelled.
  package var drainTime: Duration = .seconds(5)
  /// The proxies whose `X-Forwarded-Host` and `X-Forwarded-Proto` are used.
  package var trustedProxies: [AddressRange] = []
  /// The clock for time limits.
  package var clock: any Clock<Duration>
  /// The clock for the `Date` field; `nil` omits the field.
  package var wallClock: (@Sendable () -> Timestamp)?

  /// Sets the options; the defaults suit a server for one machine.
  ///
  /// - Parameter change: sets the other options.
  package init(
    host: String = "127.0.0.1", port: Int = 0, clock: any Clock<Duration> = ContinuousClock(),
    _ change: (inout HTTPServerOptions) -> Void = { _ in }
  ) {
    self.host = host
    self.port = port
    self.clock = clock
    change(&self)
  }
}
