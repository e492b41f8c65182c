package import Records

/// How an HTTP server listens, and how long and how much it puts up with.
///
/// Every time is told by `clock` and looked at once a second, so that a limit of ten seconds is
/// kept after ten to eleven. Source: the rules for slow clients that every local server keeps.
package struct HTTPServerOptions: Sendable {
  /// The port to listen on, 0 to 65535; 0 takes any free one.
  package var port: Int
  /// How much of a request is taken.
  package var limits: HTTPLimits
  /// How long the header of a request may take, from its first byte; afterwards 408.
  ///
  /// On a new connection the time runs from the beginning of that. It is also the time that a body
  /// has before its rate counts.
  package var headerTime: Duration
  /// The rate that a body must keep, in bytes a second, at least 1; afterwards 408.
  package var bodyBytesPerSecond: Int
  /// How long a connection may stay open between two requests.
  package var idleTime: Duration
  /// How long a client may take nothing of an answer that waits for it.
  package var writeTime: Duration
  /// The most connections at once, at least 1; those beyond get 503.
  package var connections: Int
  /// How long running requests may go on after the server was told to stop; then they are
  /// cancelled.
  package var drainTime: Duration
  /// What tells the time.
  package var clock: any Clock<Duration>
  /// The time that answers carry in `Date`; without it they carry none.
  package var wallClock: (@Sendable () -> Timestamp)?

  /// Sets the options; the defaults fit a server for one machine.
  package init(
    port: Int = 0, limits: HTTPLimits = HTTPLimits(), headerTime: Duration = .seconds(10),
    bodyBytesPerSecond: Int = 1000, idleTime: Duration = .seconds(60),
    writeTime: Duration = .seconds(30), connections: Int = 2048,
    drainTime: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock(),
    wallClock: (@Sendable () -> Timestamp)? = nil
  ) {
    self.port = port
    self.limits = limits
    self.headerTime = headerTime
    self.bodyBytesPerSecond = bodyBytesPerSecond
    self.idleTime = idleTime
    self.writeTime = writeTime
    self.connections = connections
    self.drainTime = drainTime
    self.clock = clock
    self.wallClock = wallClock
  }
}
