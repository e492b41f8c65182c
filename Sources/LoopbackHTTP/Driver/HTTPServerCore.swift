import Synchronization

/// The state of a server: every socket and every connection, on one queue.
///
/// Nothing in here waits for a client or for a handler: sockets never block, and handlers run
/// beside the queue. A connection has one handler at a time, and the next request is begun when
/// the answer to the one before is sent, so that no client makes the server keep more than a piece
/// of its input and one answer.
actor HTTPServerCore {
  nonisolated let loop = HTTPEventLoop()
  nonisolated let connectionCount = Atomic<Int>(0)
  let options: HTTPServerOptions
  let admission: @Sendable (HTTPRequestHead) -> HTTPAdmission
  let handler: @Sendable (HTTPRequest) async -> HTTPResponse?
  let refusalFields: @Sendable (HTTPRequestHead) -> [HTTPRequestHead.Field]
  let clock: HTTPServerClock
  private let acceptance: @Sendable (Int32) -> HTTPSocket.Acceptance

  private let descriptor: Int32
  private var listener: HTTPReadiness?
  private var isListening = true
  var sweeper: Task<Void, Never>?

  var connections: [Int: HTTPConnection] = [:]
  private var nextID = 0
  /// How many handlers have not returned.
  var handlers = 0
  /// Where all sockets are read into, one after the other.
  private var buffer = [UInt8](repeating: 0, count: 65536)

  /// When the handlers that still run are cancelled; `nil` before the server was told to stop.
  var drainEnd: Duration?
  /// When everything is cut; `nil` before the handlers were cancelled.
  var cutTime: Duration?
  var waiters: [CheckedContinuation<Void, Never>] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Answers what comes to the listening socket `descriptor`, which it closes at its end.
  init(
    _ descriptor: Int32, _ options: HTTPServerOptions,
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refusalFields: @escaping @Sendable (HTTPRequestHead) -> [HTTPRequestHead.Field],
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance
  ) {
    self.descriptor = descriptor
    self.options = options
    self.admission = admission
    self.handler = handler
    self.refusalFields = refusalFields
    self.acceptance = acceptance
    clock = HTTPServerClock(options.clock)
  }

  /// Whether the server was told to stop.
  var isStopping: Bool { drainEnd != nil }

  /// What `Date` says in an answer of now.
  var date: String? { options.wallClock.flatMap { HTTPDate.text($0()) } }

  /// Whether nothing is left.
  var isDone: Bool { isStopping && !isListening && connections.isEmpty && handlers == 0 }

  /// Begins to accept connections and to look at the clock.
  func begin() {
    listener = loop.watchReading(descriptor) {
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

  private func acceptConnections() {
    // A crowd at the door must not keep those inside waiting.
    for _ in 0..<64 {
      guard !isStopping else { return }
      switch acceptance(descriptor) {
      case .connection(let descriptor): open(descriptor)
      case .gone: continue
      case .blocked: return
      case .exhausted:
        // The socket stays readable, and asking again would spin.
        listener?.pause()
        return
      }
    }
  }

  /// Goes on after a lack of descriptors, when one may be there again.
  func resumeAccepting() { listener?.resume() }

  /// Accepts no more connections.
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
      turnAway(descriptor)
      return
    }
    let id = nextID
    nextID += 1
    let connection = HTTPConnection(
      id: id, descriptor: descriptor, limits: options.limits, now: clock.elapsed())
    connections[id] = connection
    connectionCount.add(1, ordering: .relaxed)
    connection.watches = 1
    connection.reader = loop.watchReading(descriptor) {
      self.assumeIsolated { $0.readable(id) }
    } released: {
      self.assumeIsolated { $0.released(id) }
    }
  }

  /// Says that there is no room, without a word about whether it arrives.
  private func turnAway(_ descriptor: Int32) {
    // What was read is not answered with a reset, which would take the answer away.
    _ = receive(descriptor)
    let refusal = HTTPRefusal(503, "there are too many connections: try again later")
    _ = HTTPResponse(refusal).bytes(closes: true, date: date).withUnsafeBytes {
      HTTPSocket.send(descriptor, $0)
    }
    HTTPSocket.release(descriptor)
  }

  /// Reads into the buffer.
  func receive(_ descriptor: Int32) -> HTTPSocket.Transfer {
    buffer.withUnsafeMutableBytes { HTTPSocket.receive(descriptor, into: $0) }
  }

  /// Gives the first `count` bytes of the buffer to the parser of a connection.
  func take(_ count: Int, _ connection: HTTPConnection) {
    buffer.withUnsafeBufferPointer { connection.parser.append($0.prefix(count)) }
  }

  /// Watches when the client takes more of what it is sent.
  func watchWriting(_ connection: HTTPConnection) {
    if let writer = connection.writer {
      writer.resume()
      return
    }
    let id = connection.id
    connection.watches += 1
    connection.writer = loop.watchWriting(connection.descriptor) {
      self.assumeIsolated { $0.writable(id) }
    } released: {
      self.assumeIsolated { $0.released(id) }
    }
  }

  /// Ends a connection and cancels its handler.
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
