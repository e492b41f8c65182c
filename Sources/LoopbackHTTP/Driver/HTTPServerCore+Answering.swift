extension HTTPServerCore {
  /// Handles the return of a handler; without a response the connection is closed.
  func finished(_ id: Int, _ response: HTTPResponse?) {
    handlers -= 1
    guard let connection = connections[id], connection.phase == .handling else {
      finishIfDone()
      return
    }
    connection.forgetHandler()
    guard let response else {
      close(connection)
      return
    }
    guard (200...599).contains(response.status) else {
      answer(connection, HTTPResponse(HTTPRefusal(500, "the handler returned an invalid status")))
      proceed(connection)
      return
    }
    answer(connection, response)
    proceed(connection)
  }

  /// Rejects a request whose end is unknown, and closes the connection.
  func refuse(_ connection: HTTPConnection, _ refusal: HTTPRefusal) {
    var response = HTTPResponse(refusal)
    if let head = connection.head ?? connection.parser.unfinishedHead {
      response.fields += refusalFields(head)
    }
    refuse(connection, response)
  }

  /// Answers a request whose end is unknown, and closes the connection.
  func refuse(_ connection: HTTPConnection, _ response: HTTPResponse) {
    guard connection.phase == .reading, connection.output.isEmpty else {
      close(connection)
      return
    }
    connection.closesAfterAnswer = true
    answer(connection, response)
  }

  /// Sends the response to the current request.
  func answer(_ connection: HTTPConnection, _ response: HTTPResponse) {
    let head = connection.head
    let isLast = connection.isAtEnd && connection.parser.unreadBytes == 0
    if isStopping || isLast || head?.keepsAlive == false {
      connection.closesAfterAnswer = true
    }
    let closes = connection.closesAfterAnswer
    var response = response
    if !closes, head?.minorVersion == 0 {
      response.fields.append(.init(name: "connection", value: "keep-alive"))
    }
    let header = response.headBytes(closes: closes, date: date)
    let sendsBody = response.hasBody && head?.method != "HEAD"
    connection.phase = .answering
    connection.output.append(header, body: sendsBody ? response.body : [])
    // From here on, only the output holds the body.
    response.body = []
    connection.restartWait(clock.elapsed())
    flush(connection)
  }

  /// Handles a socket that became writable.
  func writable(_ id: Int) {
    guard let connection = connections[id], connection.phase != .closed else { return }
    flush(connection)
    proceed(connection)
  }

  /// Sends as much output as the socket accepts.
  func flush(_ connection: HTTPConnection) {
    switch connection.output.send(to: connection.descriptor) {
    case .done:
      connection.writer?.pause()
      if connection.phase == .answering { answered(connection) }
    case .blocked(let hasProgressed):
      if hasProgressed { connection.restartWait(clock.elapsed()) }
      watchWriting(connection)
    case .failed: close(connection)
    }
  }

  /// Handles a response that was handed to the system completely.
  private func answered(_ connection: HTTPConnection) {
    guard connection.closesAfterAnswer else {
      connection.forgetRequest()
      if isStopping { endLingering(connection) }
      return
    }
    if connection.isAtEnd {
      close(connection)
      return
    }
    // Closing with unread input would reset the connection, and the client might lose the response.
    HTTPSocket.endWriting(connection.descriptor)
    connection.forgetRequest()
    connection.phase = .lingering
    if isStopping { endLingering(connection) }
  }

  /// Closes the connection without waiting for the client to close its side.
  func endLingering(_ connection: HTTPConnection) {
    for _ in 0..<16 {
      guard case .bytes = receive(connection.descriptor) else { break }
    }
    close(connection)
  }
}
