import Synchronization

/// An HTTP/1.1 server on this machine's loopback address.
///
/// It listens on 127.0.0.1 only and has neither TLS nor a name: who may come in is up to the
/// admission, such as a ``HostPolicy``. Requests of one connection are answered one after the
/// other, in their order; connections don't wait for each other. All calls can be made from any
/// task. A server that nobody holds any more ends at once, without waiting for what runs.
package final class HTTPServer: Sendable {
  /// The port it listens on.
  package let port: Int
  let core: HTTPServerCore

  /// Listens, and answers from now on.
  ///
  /// - Parameters:
  ///   - options: The port, the limits and the times.
  ///   - admission: Decides on a request before its body is read. It is called on the server's own
  ///     queue, where every connection waits for it: it must return at once.
  ///   - handler: Answers a request; it runs beside the queue and may take its time. Its task is
  ///     cancelled when the client is gone, and at the end of the drain time; a client that only
  ///     ended its side of the connection is answered. An answer with a status that is none (below
  ///     200 or above 599) becomes 500; for `nil` the connection is closed without an answer.
  ///   - refusalFields: What the answer says beside the refusal when the server itself refuses a
  ///     request, by as much of its head as was read; the method and the path are empty when the
  ///     request line is wrong. It is called like the admission.
  /// - Throws: When the port is taken, not allowed or no port at all.
  package convenience init(
    _ options: HTTPServerOptions = HTTPServerOptions(),
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refusalFields: @escaping @Sendable (HTTPRequestHead) -> [HTTPRequestHead.Field] = { _ in [] }
  ) throws(HTTPServerError) {
    try self.init(
      options, admission: admission, handler: handler, refusalFields: refusalFields,
      acceptance: HTTPSocket.accept)
  }

  init(
    _ options: HTTPServerOptions,
    admission: @escaping @Sendable (HTTPRequestHead) -> HTTPAdmission,
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?,
    refusalFields: @escaping @Sendable (HTTPRequestHead) -> [HTTPRequestHead.Field] = { _ in [] },
    acceptance: @escaping @Sendable (Int32) -> HTTPSocket.Acceptance
  ) throws(HTTPServerError) {
    let listener = try HTTPSocket.listen(port: options.port)
    port = listener.port
    let core = HTTPServerCore(
      listener.descriptor, options, admission: admission, handler: handler,
      refusalFields: refusalFields, acceptance: acceptance)
    self.core = core
    core.loop.execute { core.assumeIsolated { $0.begin() } }
  }

  deinit {
    let core = core
    core.loop.execute { core.assumeIsolated { $0.cut() } }
  }

  /// How many connections are open, those included that are about to end.
  package var connectionCount: Int { core.connectionCount.load(ordering: .relaxed) }

  /// Stops: no new connections, idle ones are closed, running requests end.
  ///
  /// After ``HTTPServerOptions/drainTime`` the handlers that still run are cancelled. What they
  /// return within a second is sent, and then every connection is cut. Returns when nothing is
  /// left: no socket and no handler, so that a handler that does not listen to its cancellation is
  /// waited for.
  package func stop() async { await core.stop() }
}
