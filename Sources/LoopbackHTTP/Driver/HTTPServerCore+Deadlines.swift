extension HTTPServerCore {
  /// The time limit for a client that sends nothing to close a connection after the last response.
  ///
  /// A client that still sends a refused body may read the response afterwards. It has the time of
  /// an idle connection.
  private static let lingerTime = Duration.seconds(2)

  /// Closes the connections whose time limit has passed.
  func sweep() {
    let now = clock.elapsed()
    resumeAccepting()
    for connection in Array(connections.values) { check(connection, now) }
    if let drainEnd, now >= drainEnd { endDrain(now) }
  }

  /// Detects the end of a connection whose reading is paused.
  private func noticeEnd(_ connection: HTTPConnection) {
    guard connection.phase != .closed, connection.reader?.isPaused == true else { return }
    if HTTPSocket.isBroken(connection.descriptor) {
      close(connection)
    } else if HTTPSocket.hasEndedSide(connection.descriptor) {
      endedSide(connection)
    }
  }

  private func check(_ connection: HTTPConnection, _ now: Duration) {
    noticeEnd(connection)
    let waited = now - connection.waitsSince
    switch connection.wait {
    case .idle:
      if waited >= options.idleTime { close(connection) }
    case .header:
      guard waited >= options.headerTime else { return }
      guard connection.parser.isInsideRequest else {
        close(connection)
        return
      }
      refuse(connection, HTTPRefusal(408, "the header did not arrive in time"))
      settle(connection)
    case .body:
      let rate = max(1, options.bodyBytesPerSecond)
      let earned = Duration.seconds(connection.body.count / rate)
      // After a large first part the rate alone would allow hours without another byte.
      let stalled = now - connection.noteProgress(of: connection.body.count, now)
      guard waited >= options.headerTime + earned || stalled >= options.stallTime else { return }
      refuse(connection, HTTPRefusal(408, "the body arrived too slowly"))
      settle(connection)
    case .handler: break
    case .answer:
      if waited >= options.stallTime { close(connection) }
    case .end:
      let silent = now - max(connection.waitsSince, connection.lastDiscard)
      if silent >= HTTPServerCore.lingerTime || waited >= options.idleTime { close(connection) }
    }
  }
}
