import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An HTTP client that uses plain sockets for servers on this machine and `URLSession`, which
/// supports TLS and proxies, for all others.
///
/// On Linux a request through `URLSession` passes through four queues and can't be cancelled.
final class WebClient: Sendable {
  private let maximumConnections: Int
  private let loopback: LoopbackClient
  /// Created at its first use; `nil` before that and after `close()`.
  private let session = Mutex<(session: URLSession?, isClosed: Bool)>((nil, false))

  /// Creates a client with at most `maximumConnections` connections to a server; further requests
  /// wait for one of them.
  init(maximumConnections: Int = 16) {
    self.maximumConnections = maximumConnections
    loopback = LoopbackClient(maximumConnections: maximumConnections)
  }

  /// Refuses further requests; running ones complete and their results are dropped.
  func close() {
    loopback.close()
    session.withLock { state in
      state.session?.finishTasksAndInvalidate()
      state = (nil, true)
    }
  }

  /// Sends a request and returns the response.
  ///
  /// Cancelling the task cancels the request.
  ///
  /// - Throws: a `URLError` or `CancellationError`.
  func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
    if let (address, target) = LoopbackAddress.parse(request.url),
      request.fields.allSatisfy({ $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
    {
      return try await loopback.send(request, to: address, target)
    }
    guard let url = URL(string: request.url) else { throw URLError(.badURL) }
    guard let session = openSession() else { throw URLError(.cancelled) }
    var urlRequest = URLRequest(url: url)
    for field in request.fields { urlRequest.setValue(field.value, forHTTPHeaderField: field.name) }
    if let body = request.body {
      urlRequest.httpMethod = "POST"
      urlRequest.httpBody = Data(body)
    }
    let (data, response) = try await session.answer(to: urlRequest)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return HTTPClientResponse(
      status: response.statusCode,
      fields: response.allHeaderFields.compactMap { name, value in
        guard let name = name as? String, let value = value as? String else { return nil }
        return HTTPClientRequest.Field(name: name.lowercased(), value: value)
      }.sorted { $0.name < $1.name },
      body: [UInt8](data))
  }

  private func openSession() -> URLSession? {
    session.withLock { state in
      if state.session == nil, !state.isClosed { state.session = makeSession() }
      return state.session
    }
  }

  private func makeSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    // Longer than the time for which a server holds a request for pushes.
    configuration.timeoutIntervalForRequest = 60
    configuration.httpMaximumConnectionsPerHost = maximumConnections
    return URLSession(configuration: configuration)
  }
}
