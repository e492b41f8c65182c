import Synchronization

/// An HTTP/1.1 server without TLS, on this machine's loopback address unless its options name
/// another one.
///
/// The admission callback, such as a ``HostPolicy``,
/// decides which requests are accepted. Requests of one connection are answered in order;
/// connections don't wait for each other. Call from any task. A server that is released ends at
/// once, without waiting for running handlers.
package final class HTTPServer: Sendable {
  /// Receives what the server itself refuses; returns header fields for the response.
  package typealias Refused =
    @Sendable (HTTPRequestHead?, HTTPResponse) -> [HTTPRequestHead.Field]

  /// The port that the server listens on.
  package let port: Int
  let core: HTTPServerCore

  /// Starts listening and answering requests.
  ///
  /// - Parameters:
  ///   - options: The port, the limits and the times.
  ///   - admission: Accepts or rejects a request before its body is read. It is called on the
  ///     server's thread and delays every connection: it must return at once. What takes longer
  ///     belongs into the check of ``HTTPAdmission/acceptAfter(check:bodyBytes:)``.
  ///   - handler: Answers a request. It runs on another thread and may take any time. Its task is
  ///     cancelled when the client disconnects, and at the end of the drain time; a client that
  ///     only closed its side of the connection still gets the response. A status below 200 or
  ///     above 599 is replaced with 500; for `nil` the connection is closed without a response.
  ///   - refused: Called when the server itself refuses a request or a connection, with as much of
  ///     the head as was read and the response, for which it returns additional header fields. The
  ///     method and the path are empty if the request line is malformed. It is called like
  ///     `admission`.
  /// - Throws: If the port is in use, not permitted or out of range.
  package convenience init(
    _ options: HTTPServerOptions = HTTPServerOptions(),
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refused: @escaping Refused = { _, _ in [] }
  ) throws(HTTPServerError) {
    try self.init(
      options, admission: admission, handler: handler, refused: refused,
      acceptance: HTTPSocket.accept)
  }

  init(
    _ options: HTTPServerOptions,
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refused: @escaping Refused = { _, _ in [] },
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance
  ) throws(HTTPServerError) {
    let listener = try HTTPSocket.listen(host: options.host, port: options.port)
    port = listener.port
    let core = HTTPServerCore(
      listener.descriptor, options, admission: admission, handler: handler,
      refused: refused, acceptance: acceptance)
    self.core = core
    core.loop.execute { core.assumeIsolated { $0.begin() } }
  }

  deinit {
    let core = core
    core.loop.execute { core.assumeIsolated { $0.cut() } }
  }

  /// The number of open connections, including those that are closing.
  package var connectionCount: Int { core.connectionCount.load(ordering: .relaxed) }

  /// Stops the server: refuses new connections, closes idle connections and waits for running
  /// requests.
  ///
  /// After ``HTTPServerOptions/drainTime`` the remaining handlers are cancelled. Their responses
  /// are sent if they arrive within a second; then every connection is closed. Returns when all
  /// sockets are closed and all handlers have returned, including handlers that ignore
  /// cancellation.
  package func stop() async { await core.stop() }
}
