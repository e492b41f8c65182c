/// One client: what it sent, what it is sent, and where it stands between the two.
///
/// It belongs to the actor of its server.
final class HTTPConnection {
  /// What happens with the connection.
  enum Phase {
    /// A request is read, or waited for.
    case reading
    /// A handler works on the request.
    case handling
    /// The answer is sent.
    case answering
    /// Everything is sent; what the client still sends is thrown away until it ends.
    case lingering
    /// It is over; the descriptor is given back when nothing watches it any more.
    case closed
  }

  /// What has a limit in time.
  enum Wait {
    case idle
    case header
    case body
    case handler
    case answer
    case end
  }

  let id: Int
  let descriptor: Int32
  var phase = Phase.reading
  var parser: HTTPRequestParser
  /// The request being read or answered.
  var head: HTTPRequestHead?
  var body: [UInt8] = []
  var bodyLimit = 0
  /// What the request gets instead of a handler's answer.
  var refusal: HTTPResponse?
  var output = HTTPOutput()
  /// Whether the connection ends with the answer being sent.
  var closesAfterAnswer = false
  /// Whether the client ended its side of the connection; what it sent before may be unread.
  var hasEndedSide = false
  /// Whether everything that the client sent was read, up to its end.
  var isAtEnd = false
  /// The work of the handler.
  var task: Task<Void, Never>?
  /// Asks whether a client that ended its side is still there, while a handler works for it.
  var presenceCheck: Task<Void, Never>?

  var reader: HTTPReadiness?
  var writer: HTTPReadiness?
  /// How many sources watch the descriptor.
  var watches = 0

  private(set) var wait = Wait.header
  private(set) var waitsSince: Duration

  init(id: Int, descriptor: Int32, limits: HTTPLimits, now: Duration) {
    self.id = id
    self.descriptor = descriptor
    parser = HTTPRequestParser(limits: limits)
    waitsSince = now
  }

  /// What the connection waits for as it stands.
  private var currentWait: Wait {
    switch phase {
    case .reading: head != nil ? .body : parser.isInsideRequest ? .header : .idle
    case .handling: .handler
    case .answering: .answer
    case .lingering, .closed: .end
    }
  }

  /// Lets the time run from `now` if what is waited for is another thing than before.
  func settleWait(_ now: Duration) {
    let current = currentWait
    guard current != wait else { return }
    wait = current
    waitsSince = now
  }

  /// Lets the time run from `now`, because something was done.
  func restartWait(_ now: Duration) {
    wait = currentWait
    waitsSince = now
  }

  /// Forgets the handler, which has returned.
  func forgetHandler() {
    task = nil
    presenceCheck?.cancel()
    presenceCheck = nil
  }

  /// Forgets the request that was answered.
  func forgetRequest() {
    head = nil
    body = []
    refusal = nil
    phase = .reading
  }
}
