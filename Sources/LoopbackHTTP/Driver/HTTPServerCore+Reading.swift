extension HTTPServerCore {
  /// The maximum number of unread bytes of pipelined requests on a connection.
  private static let unreadBytes = 65536

  /// Handles a socket that became readable.
  func readable(_ id: Int) {
    guard let connection = connections[id] else { return }
    guard connection.phase != .closed else { return }
    switch receive(connection.descriptor) {
    case .bytes(let count):
      guard connection.phase != .lingering else {
        connection.lastDiscard = clock.elapsed()
        return
      }
      take(count, connection)
      proceed(connection)
    case .blocked: break
    case .end: ended(connection)
    case .failed: close(connection)
    }
  }

  /// Handles the end of input: the received requests are answered, and then the connection is
  /// closed.
  ///
  /// Source: RFC 9112, section 9.6.
  private func ended(_ connection: HTTPConnection) {
    guard connection.phase != .lingering else {
      close(connection)
      return
    }
    connection.isAtEnd = true
    endedSide(connection)
    proceed(connection)
  }

  /// Processes the input that was read.
  func proceed(_ connection: HTTPConnection) {
    do throws(HTTPRefusal) {
      while connection.phase == .reading, connection.output.isEmpty {
        guard let event = try connection.parser.next() else { break }
        switch event {
        case .head(let head): try admit(head, connection)
        case .body(let piece):
          try connection.body.append(piece)
          try checkMemory(for: connection)
        case .end: try complete(connection)
        }
      }
    } catch {
      refuse(connection, error)
    }
    // No further request can become complete.
    if connection.isAtEnd, connection.phase == .reading, connection.output.isEmpty {
      close(connection)
    }
    settle(connection)
  }

  /// Accepts or rejects a request by its head.
  private func admit(
    _ head: HTTPRequestHead, _ connection: HTTPConnection
  ) throws(HTTPRefusal) {
    var head = head
    if connection.isTrustedProxy { head.takeForwarded() }
    connection.head = head
    switch admission(head) {
    case .accept(let bodyBytes): try accept(head, bodyBytes, usesFile: false, connection)
    case .acceptFile(let bytes): try accept(head, bytes, usesFile: true, connection)
    case .acceptAfter(let check, let bodyBytes):
      connection.phase = .checking
      handlers += 1
      let id = connection.id
      connection.task = loop.start {
        let refusal = await check()
        await self.checked(id, refusal, bodyBytes)
      }
    case .refuse(let response): refuse(head, response, connection)
    }
  }

  private func refuse(
    _ head: HTTPRequestHead, _ response: HTTPResponse, _ connection: HTTPConnection
  ) {
    guard head.framing == .length(0) else {
      refuse(connection, response)
      return
    }
    // Without a body, the start of the next request is known.
    connection.refusal = response
  }

  /// Handles the return of the check of a request's admission.
  private func checked(_ id: Int, _ refusal: HTTPResponse?, _ bodyBytes: Int) {
    handlers -= 1
    guard let connection = connections[id], connection.phase == .checking,
      let head = connection.head
    else {
      finishIfDone()
      return
    }
    connection.forgetHandler()
    connection.phase = .reading
    do throws(HTTPRefusal) {
      if let refusal {
        refuse(head, refusal, connection)
      } else {
        try accept(head, bodyBytes, usesFile: false, connection)
      }
    } catch {
      refuse(connection, error)
    }
    proceed(connection)
  }

  private func accept(
    _ head: HTTPRequestHead, _ bodyBytes: Int, usesFile: Bool, _ connection: HTTPConnection
  ) throws(HTTPRefusal) {
    let limit = min(max(0, bodyBytes), usesFile ? .max : options.limits.bodyBytes)
    connection.body = HTTPBody(usesFile: usesFile)
    connection.parser.bodyLimit = limit
    if case .length(let length) = head.framing, length > limit {
      throw HTTPRefusal(413, "the body is longer than \(limit) bytes")
    }
    // A client that already sends the body needs no interim response.
    if head.expectsContinue, connection.parser.unreadBytes == 0 {
      connection.output.append(HTTPResponse.continueResponse)
      flush(connection)
    }
  }

  /// Refuses a body if those of all requests need too much memory.
  private func checkMemory(for connection: HTTPConnection) throws(HTTPRefusal) {
    guard connection.body.bytesInMemory > HTTPBody.memoryBytes else { return }
    let bytes = connections.values.reduce(0) { $0 + $1.handledBytes + $1.body.bytesInMemory }
    guard bytes <= options.bodyMemory else {
      throw HTTPRefusal(503, "the requests of all clients need too much memory; try again")
    }
  }

  /// Starts the handler of a request that was read completely.
  private func complete(_ connection: HTTPConnection) throws(HTTPRefusal) {
    guard let head = connection.head else { return }
    if let refusal = connection.refusal {
      answer(connection, refusal)
      return
    }
    connection.handledBytes = connection.body.bytesInMemory
    let request = try connection.body.request(head)
    connection.body = HTTPBody()
    connection.phase = .handling
    handlers += 1
    let (id, handler) = (connection.id, handler)
    connection.task = loop.start {
      let response = await handler(request)
      await self.finished(id, response)
    }
    if connection.hasEndedSide { checkPresence(connection) }
  }

  /// Pauses or resumes reading, and restarts the time limit if the connection waits for a new
  /// event.
  func settle(_ connection: HTTPConnection) {
    switch connection.phase {
    case .closed: return
    case .lingering: connection.reader?.resume()
    case .reading, .checking, .handling, .answering:
      let isAhead = connection.parser.unreadBytes > HTTPServerCore.unreadBytes
      if connection.isAtEnd || isAhead {
        connection.reader?.pause()
      } else {
        connection.reader?.resume()
      }
    }
    connection.settleWait(clock.elapsed())
  }
}
