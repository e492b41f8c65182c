extension HTTPServerCore {
  /// The time limit for the response of a handler that was cancelled after the drain time.
  private static let cancelTime = Duration.seconds(1)

  /// Waits for running requests; returns when all connections are closed.
  func stop() async {
    beginStop()
    if !isDone {
      await withCheckedContinuation { waiters.append($0) }
    }
    await sweeper?.value
  }

  /// Stops accepting connections and closes idle ones.
  ///
  /// Requests that have arrived by now are answered, even if they were not read yet and their
  /// clients wait to be accepted: those clients can't know that the server stops.
  func beginStop() {
    guard !isStopping else { return }
    acceptConnections(most: Int(HTTPSocket.backlog) + 1)
    drainEnd = clock.elapsed() + options.drainTime
    stopListening()
    for connection in Array(connections.values) {
      switch connection.phase {
      case .reading: closeUnlessAsked(connection)
      case .lingering: endLingering(connection)
      case .checking, .handling, .answering, .closed: break
      }
    }
    finishIfDone()
  }

  /// Closes a connection on which no request has arrived, not even to the system.
  func closeUnlessAsked(_ connection: HTTPConnection) {
    if connection.isBetweenRequests { readable(connection.id) }
    if connection.isBetweenRequests { close(connection) }
  }

  /// Cancels the running handlers, whose responses are still sent, and closes all other
  /// connections; a second later every connection is closed.
  func endDrain(_ now: Duration) {
    if let cutTime {
      if now >= cutTime { cut() }
      return
    }
    cutTime = now + HTTPServerCore.cancelTime
    for connection in Array(connections.values) {
      if connection.phase == .handling {
        connection.task?.cancel()
      } else {
        close(connection)
      }
    }
  }

  /// Closes every connection at once.
  func cut() {
    beginStop()
    for connection in Array(connections.values) { close(connection) }
  }

  /// Resumes the callers of `stop()` if everything is closed.
  func finishIfDone() {
    guard isDone else { return }
    sweeper?.cancel()
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
