extension HTTPServerCore {
  /// How long a handler works for a client that ended its side before the client is asked whether
  /// it is there; each further time it is twice as long.
  private static let presenceTime = Duration.milliseconds(100)

  /// The client ended its side of the connection.
  func endedSide(_ connection: HTTPConnection) {
    connection.hasEndedSide = true
    checkPresence(connection)
  }

  /// Finds out whether a client that ended its side is gone, while a handler works for it.
  ///
  /// A client that waits for its last answer and one that no longer exists have sent the same. They
  /// differ when they are sent something: for a client that is gone its system answers with a
  /// reset. It is sent the interim response `100 Continue`, which clients of HTTP/1.1 must accept
  /// before the answer; HTTP/1.0 has none, so that its requests are worked on to their end.
  ///
  /// Source: RFC 9110, section 15.2.
  func checkPresence(_ connection: HTTPConnection) {
    guard connection.phase == .handling, connection.presenceCheck == nil,
      connection.head?.minorVersion == 1
    else { return }
    let (id, clock) = (connection.id, clock)
    connection.presenceCheck = loop.start {
      var time = HTTPServerCore.presenceTime
      while (try? await clock.pause(time)) != nil, await self.isPresent(id) { time *= 2 }
    }
  }

  /// Asks a client whether it is there; closes its connection when it is not.
  private func isPresent(_ id: Int) -> Bool {
    guard let connection = connections[id], connection.phase == .handling else { return false }
    connection.output.append(HTTPResponse.goAhead)
    flush(connection)
    if HTTPSocket.isBroken(connection.descriptor) { close(connection) }
    return connection.phase == .handling
  }
}
