extension HTTPServerCore {
  /// The delay before the first check of a client that closed its side while its handler runs; the
  /// delay doubles with each check.
  private static let presenceTime = Duration.milliseconds(100)

  /// Handles a client that closed its side of the connection.
  func endedSide(_ connection: HTTPConnection) {
    connection.hasEndedSide = true
    checkPresence(connection)
  }

  /// Checks whether a client that closed its side has disconnected while its handler runs.
  ///
  /// A client that waits for its last response and one that has disconnected look the same until
  /// they are sent something: the system of a disconnected client answers with a reset. The server
  /// sends the interim response `100 Continue`, which HTTP/1.1 clients must accept before the final
  /// response. HTTP/1.0 has no interim responses, so its requests run to completion.
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

  /// Whether a client is still connected; closes the connection if not.
  private func isPresent(_ id: Int) -> Bool {
    guard let connection = connections[id], connection.phase == .handling else { return false }
    connection.output.append(HTTPResponse.continueResponse)
    flush(connection)
    if HTTPSocket.isBroken(connection.descriptor) { close(connection) }
    return connection.phase == .handling
  }
}
