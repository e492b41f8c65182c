extension HTTPServerCore {
  /// How long a handler that was cancelled at the end of the drain time may take to answer.
  private static let cancelTime = Duration.seconds(1)

  /// Lets running requests end and returns when nothing is left.
  func stop() async {
    beginStop()
    if !isDone {
      await withCheckedContinuation { waiters.append($0) }
    }
    await sweeper?.value
  }

  /// Accepts nothing more and closes what waits for a request.
  func beginStop() {
    guard !isStopping else { return }
    drainEnd = clock.elapsed() + options.drainTime
    stopListening()
    for connection in Array(connections.values) {
      switch connection.phase {
      case .reading:
        if connection.head == nil, !connection.parser.isInsideRequest { close(connection) }
      case .lingering: endLingering(connection)
      case .handling, .answering, .closed: break
      }
    }
    finishIfDone()
  }

  /// Cancels the handlers that still run, whose answers are sent, and closes all other connections;
  /// a second later everything is cut.
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

  /// Ends everything at once.
  func cut() {
    beginStop()
    for connection in Array(connections.values) { close(connection) }
  }

  /// Lets go whoever waits for the end, if this is it.
  func finishIfDone() {
    guard isDone else { return }
    sweeper?.cancel()
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
