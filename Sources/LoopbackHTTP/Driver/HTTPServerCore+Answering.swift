extension HTTPServerCore {
  /// A handler has returned; without an answer the connection is closed.
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
      answer(connection, HTTPResponse(HTTPRefusal(500, "the answer has no status of an answer")))
      proceed(connection)
      return
    }
    answer(connection, response)
    proceed(connection)
  }

  /// Refuses a request whose end can't be found, and ends the connection.
  func refuse(_ connection: HTTPConnection, _ refusal: HTTPRefusal) {
    var response = HTTPResponse(refusal)
    if let head = connection.head ?? connection.parser.unfinishedHead {
      response.fields += refusalFields(head)
    }
    refuse(connection, response)
  }

  /// Answers a request whose end can't be found, and ends the connection.
  func refuse(_ connection: HTTPConnection, _ response: HTTPResponse) {
    guard connection.phase == .reading, connection.output.isEmpty else {
      close(connection)
      return
    }
    connection.closesAfterAnswer = true
    answer(connection, response)
  }

  /// Sends the answer to the request that was read.
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
    // Nothing but the output holds the body from here on.
    response.body = []
    connection.restartWait(clock.elapsed())
    flush(connection)
  }

  /// The client takes more.
  func writable(_ id: Int) {
    guard let connection = connections[id], connection.phase != .closed else { return }
    flush(connection)
    proceed(connection)
  }

  /// Sends what the client takes now.
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

  /// The answer is sent; the system has all of it.
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
    // Closed with something unread, the connection would be reset, and the client might lose the
    // answer.
    HTTPSocket.endWriting(connection.descriptor)
    connection.forgetRequest()
    connection.phase = .lingering
    if isStopping { endLingering(connection) }
  }

  /// Closes without waiting for the client's end.
  func endLingering(_ connection: HTTPConnection) {
    for _ in 0..<16 {
      guard case .bytes = receive(connection.descriptor) else { break }
    }
    close(connection)
  }
}
