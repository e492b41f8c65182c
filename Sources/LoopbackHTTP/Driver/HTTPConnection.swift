import CloudProtocol

/// The state of one client connection: its input, its output and its phase.
///
/// Isolated to the server's actor.
final class HTTPConnection {
  /// The phase of the connection.
  enum Phase {
    /// The connection reads a request, or waits for one.
    case reading
    /// The check of the request's admission runs; its body is read afterwards.
    case checking
    /// A handler processes the request.
    case handling
    /// The response is being sent.
    case answering
    /// Everything is sent; further input is discarded until the client closes its side.
    case lingering
    /// The connection is closed; the descriptor is released when it is no longer watched.
    case closed
  }

  /// The event that the connection waits for, with a time limit.
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
  /// Whether the client is a proxy whose fields about the client are used.
  let isTrustedProxy: Bool
  var phase = Phase.reading
  var parser: HTTPRequestParser
  /// The head of the current request.
  var head: HTTPRequestHead?
  var body = HTTPBody()
  /// The number of bytes of the body that the running handler has in memory.
  var handledBytes = 0
  /// The response sent instead of calling the handler.
  var refusal: HTTPResponse?
  var output = HTTPOutput()
  /// The rest of the response's body, which is read when the output is empty.
  var unsent: (content: AssetContent, start: Int)?
  /// Whether the connection is closed after the current response.
  var closesAfterAnswer = false
  /// Whether the client closed its side of the connection; earlier input may still be unread.
  var hasEndedSide = false
  /// Whether all input was read up to the end.
  var isAtEnd = false
  /// The task of the check, of the handler, or of reading the next part of its response.
  var task: Task<Void, Never>?
  /// Checks whether a client that closed its side is still connected while the handler runs.
  var presenceCheck: Task<Void, Never>?

  var reader: HTTPReadiness?
  var writer: HTTPReadiness?
  /// The number of watches on the descriptor.
  var watches = 0

  private(set) var wait = Wait.header
  private(set) var waitsSince: Duration
  /// When input of a lingering connection was discarded last.
  var lastDiscard = Duration.zero
  /// The number of bytes of the body at the last check, and when that number was new.
  private var progress: (count: Int, time: Duration)

  init(id: Int, descriptor: Int32, isTrustedProxy: Bool, limits: HTTPLimits, now: Duration) {
    self.id = id
    self.descriptor = descriptor
    self.isTrustedProxy = isTrustedProxy
    parser = HTTPRequestParser(limits: limits)
    waitsSince = now
    progress = (0, now)
  }

  /// Whether nothing of a request was received.
  var isBetweenRequests: Bool { phase == .reading && head == nil && !parser.isInsideRequest }

  /// The current wait.
  private var currentWait: Wait {
    switch phase {
    case .reading: head != nil ? .body : parser.isInsideRequest ? .header : .idle
    case .checking, .handling: .handler
    case .answering: .answer
    case .lingering, .closed: .end
    }
  }

  /// Restarts the time limit at `now` if the connection now waits for a different event.
  func settleWait(_ now: Duration) {
    let current = currentWait
    guard current != wait else { return }
    wait = current
    waitsSince = now
    progress = (0, now)
  }

  /// Notes the number of bytes of the body; returns when there were fewer last.
  func noteProgress(of count: Int, _ now: Duration) -> Duration {
    if count != progress.count { progress = (count, now) }
    return progress.time
  }

  /// Restarts the time limit at `now` after progress.
  func restartWait(_ now: Duration) {
    wait = currentWait
    waitsSince = now
  }

  /// Releases the task of the check or the handler after it returned.
  func forgetHandler() {
    task = nil
    handledBytes = 0
    presenceCheck?.cancel()
    presenceCheck = nil
  }

  /// Resets the state of the answered request.
  func forgetRequest() {
    head = nil
    body = HTTPBody()
    unsent = nil
    refusal = nil
    phase = .reading
  }
}
