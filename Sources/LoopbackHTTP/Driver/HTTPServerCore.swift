import Synchronization

/// The state of a server: its sockets and connections, on one thread.
///
/// No call waits for a client or a handler: sockets are non-blocking, and handlers run on other
/// threads. A connection runs one handler at a time, and its next request starts after the previous
/// response was sent, so memory per client is bounded to a piece of input and one response.
actor HTTPServerCore {
  nonisolated let loop = HTTPEventLoop()
  nonisolated let connectionCount = Atomic<Int>(0)
  let options: HTTPServerOptions
  let admission: @Sendable (HTTPRequestHead) -> HTTPAdmission
  let handler: @Sendable (HTTPRequest) async -> HTTPResponse?
  let refused: HTTPServer.Refused
  let clock: HTTPServerClock
  private let acceptance: @Sendable (Int32) -> HTTPSocket.Acceptance

  private let descriptor: Int32
  private var listener: HTTPReadiness?
  private var isListening = true
  var sweeper: Task<Void, Never>?

  var connections: [Int: HTTPConnection] = [:]
  private var nextID = 0
  /// The number of running handlers and checks.
  var handlers = 0
  /// The input buffer shared by all sockets.
  private var buffer = [UInt8](repeating: 0, count: 65536)

  /// When the remaining handlers are cancelled; `nil` before `stop()`.
  var drainEnd: Duration?
  /// When every connection is closed; `nil` before the handlers were cancelled.
  var cutTime: Duration?
  var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Serves the listening socket `descriptor` and closes it at the end.
  init(
    _ descriptor: Int32, _ options: HTTPServerOptions,
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refused: @escaping HTTPServer.Refused,
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance
  ) {
    self.descriptor = descriptor
    self.options = options
    self.admission = admission
    self.handler = handler
    self.refused = refused
    self.acceptance = acceptance
    clock = HTTPServerClock(options.clock)
  }

  /// Whether `stop()` was called.
  var isStopping: Bool { drainEnd != nil }

  /// The current value of the `Date` field.
  var date: String? { options.wallClock.flatMap { HTTPDate.text($0()) } }

  /// Whether all connections are closed and all handlers have returned.
  var isDone: Bool { isStopping && !isListening && connections.isEmpty && handlers == 0 }

  /// Starts accepting connections and checking deadlines.
  func begin() {
    listener = loop.watch(descriptor) {
      self.assumeIsolated { $0.acceptConnections() }
    } released: {
      self.assumeIsolated { $0.listenerReleased() }
    }
    let clock = clock
    sweeper = loop.start {
      while !Task.isCancelled {
        guard (try? await clock.pause(.seconds(1))) != nil else { return }
        await self.sweep()
      }
    }
  }

  /// Accepts the connections that wait, at most so many.
  ///
  /// New connections must not delay the accepted ones, so the number is limited.
  func acceptConnections(most: Int = 64) {
    for _ in 0..<most {
      guard !isStopping else { return }
      switch acceptance(descriptor) {
      case .connection(let descriptor): open(descriptor)
      case .gone: continue
      case .blocked: return
      case .exhausted:
        // The socket stays readable; accepting again at once would be a busy loop.
        listener?.pause()
        return
      }
    }
  }

  /// Resumes accepting after the process ran out of descriptors.
  func resumeAccepting() { listener?.resume() }

  /// Stops accepting connections.
  func stopListening() {
    listener?.cancel()
    listener = nil
  }

  private func listenerReleased() {
    HTTPSocket.release(descriptor)
    isListening = false
    finishIfDone()
  }

  private func open(_ descriptor: Int32) {
    guard connections.count < max(1, options.connections) else {
      rejectConnection(descriptor)
      return
    }
    let id = nextID
    nextID += 1
    // The admission of a request limits its body.
    var limits = options.limits
    limits.bodyBytes = .max
    let peer = options.trustedProxies.isEmpty ? nil : HTTPSocket.peer(descriptor)
    let connection = HTTPConnection(
      id: id, descriptor: descriptor,
      isTrustedProxy: peer.map { peer in
        options.trustedProxies.contains { $0.contains(peer) }
      } ?? false, limits: limits, now: clock.elapsed())
    connections[id] = connection
    connectionCount.add(1, ordering: .relaxed)
    connection.watches = 1
    connection.reader = loop.watch(descriptor) {
      self.assumeIsolated { $0.readable(id) }
    } released: {
      self.assumeIsolated { $0.released(id) }
    }
  }

  /// Rejects a connection with 503; delivery is not guaranteed.
  private func rejectConnection(_ descriptor: Int32) {
    // Unread input would cause a reset, which could discard the response.
    _ = receive(descriptor)
    let response = HTTPResponse(HTTPRefusal(503, "too many connections: try again later"))
    _ = refused(nil, response)
    _ = response.bytes(closes: true, date: date).withUnsafeBytes {
      HTTPSocket.send(descriptor, $0)
    }
    HTTPSocket.release(descriptor)
  }

  /// Reads from a socket into the shared buffer.
  func receive(_ descriptor: Int32) -> HTTPSocket.Transfer {
    buffer.withUnsafeMutableBytes { HTTPSocket.receive(descriptor, into: $0) }
  }

  /// Appends the first `count` bytes of the buffer to the parser of a connection.
  func take(_ count: Int, _ connection: HTTPConnection) {
    buffer.withUnsafeBufferPointer { connection.parser.append($0.prefix(count)) }
  }

  /// Watches for the socket to become writable.
  func watchWriting(_ connection: HTTPConnection) {
    if let writer = connection.writer {
      writer.resume()
      return
    }
    let id = connection.id
    connection.watches += 1
    connection.writer = loop.watch(connection.descriptor, writing: true) {
      self.assumeIsolated { $0.writable(id) }
    } released: {
      self.assumeIsolated { $0.released(id) }
    }
  }

  /// Closes a connection and cancels its handler.
  func close(_ connection: HTTPConnection) {
    guard connection.phase != .closed else { return }
    connection.phase = .closed
    connection.task?.cancel()
    connection.forgetHandler()
    connection.reader?.cancel()
    connection.writer?.cancel()
  }

  private func released(_ id: Int) {
    guard let connection = connections[id] else { return }
    connection.watches -= 1
    guard connection.watches == 0 else { return }
    HTTPSocket.release(connection.descriptor)
    connections[id] = nil
    connectionCount.subtract(1, ordering: .relaxed)
    resumeAccepting()
    finishIfDone()
  }
}
