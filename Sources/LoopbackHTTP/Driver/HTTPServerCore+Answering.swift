import CloudProtocol

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
    response.fields += refused(connection.head ?? connection.parser.unfinishedHead, response)
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
    if let file = response.file, file.isInMemory { response.body = (try? file.bytes()) ?? [] }
    connection.output.append(header, body: sendsBody ? response.body : [])
    if sendsBody, let file = response.file, !file.isInMemory { connection.unsent = (file, 0) }
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
      guard connection.phase == .answering else { return }
      if connection.unsent == nil { answered(connection) } else { readUnsent(connection) }
    case .blocked(let hasProgressed):
      if hasProgressed { connection.restartWait(clock.elapsed()) }
      watchWriting(connection)
    case .failed: close(connection)
    }
  }

  /// Reads the next part of a response's body on another thread.
  private func readUnsent(_ connection: HTTPConnection) {
    guard let (content, start) = connection.unsent, connection.task == nil else { return }
    let end = min(content.count, start + AssetContent.partBytes)
    let id = connection.id
    handlers += 1
    connection.task = loop.start {
      let part = try? content.bytes(in: start..<end)
      await self.read(id, part)
    }
  }

  /// Sends a part of a response's body; the connection is closed if it could not be read, so that
  /// the client sees that the body is not complete.
  private func read(_ id: Int, _ part: [UInt8]?) {
    handlers -= 1
    guard let connection = connections[id], connection.phase == .answering,
      let (content, start) = connection.unsent
    else {
      finishIfDone()
      return
    }
    connection.forgetHandler()
    guard let part else {
      close(connection)
      return
    }
    let end = start + part.count
    connection.unsent = end < content.count ? (content, end) : nil
    connection.output.append([], body: part)
    connection.restartWait(clock.elapsed())
    flush(connection)
    proceed(connection)
  }

  /// Handles a response that was handed to the system completely.
  private func answered(_ connection: HTTPConnection) {
    guard connection.closesAfterAnswer else {
      connection.forgetRequest()
      // The client was not told that the connection ends.
      if isStopping { closeUnlessAsked(connection) }
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
