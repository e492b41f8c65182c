/// An HTTP client for servers on this machine: plain sockets, without the overhead of `URLSession`.
///
/// Each connection has its own thread, which writes a request, waits for the response, and then
/// waits a limited time for the next request. The number of connections follows the number of
/// concurrent requests up to a limit; further requests wait in a queue. Cancelling a request closes
/// its connection immediately, so that the server notices the cancellation.
final class LoopbackClient: Sendable {
  private let pool: LoopbackConnectionPool

  /// Creates a client with at most `maximumConnections` connections.
  ///
  /// A server that sends nothing for `timeout` milliseconds fails the request; an idle connection
  /// closes after `idleSeconds`.
  init(maximumConnections: Int = 16, timeout: Int32 = 60_000, idleSeconds: Double = 20) {
    pool = LoopbackConnectionPool(
      maximumConnections: maximumConnections, timeout: timeout, idleSeconds: idleSeconds)
  }

  deinit { pool.close() }

  /// Sends a request and returns the response.
  ///
  /// Cancelling the task cancels the request.
  ///
  /// - Throws: a `URLError`, as `URLSession` does, or `CancellationError`.
  func send(
    _ request: HTTPClientRequest, to address: LoopbackAddress, _ target: String
  ) async throws -> HTTPClientResponse {
    let pending = PendingRequest<HTTPClientResponse>()
    pool.submit(
      LoopbackRequest(
        address: address, bytes: LoopbackClient.bytes(of: request, address, target),
        pending: pending))
    return try await pending.outcome().get()
  }

  /// Closes idle connections at once and busy ones after their current request.
  func close() { pool.close() }

  private static func bytes(
    of request: HTTPClientRequest, _ address: LoopbackAddress, _ target: String
  ) -> [UInt8] {
    var head = request.body == nil ? "GET " : "POST "
    head += target
    head += " HTTP/1.1\r\nhost: "
    head += address.name
    head += "\r\naccept: */*\r\n"
    for field in request.fields { head += "\(field.name): \(field.value)\r\n" }
    if let body = request.body { head += "content-length: \(body.count)\r\n" }
    head += "\r\n"
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.utf8.count + (request.body?.count ?? 0))
    bytes += head.utf8
    if let body = request.body { bytes += body }
    return bytes
  }
}

/// A serialized request to a server on this machine.
struct LoopbackRequest: Sendable {
  let address: LoopbackAddress
  /// The complete request.
  let bytes: [UInt8]
  let pending: PendingRequest<HTTPClientResponse>
}
