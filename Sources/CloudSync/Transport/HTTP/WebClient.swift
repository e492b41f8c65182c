import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Asks web servers: those of this machine by plain sockets, all others through `URLSession`, which
/// knows of TLS and proxies.
///
/// On Linux a request through `URLSession` passes through four queues and can't be given up.
final class WebClient: Sendable {
  private let loopback = LoopbackClient()
  /// Made when it is needed first; `nil` also after the end.
  private let session = Mutex<(session: URLSession?, isClosed: Bool)>((nil, false))

  /// Lets what is under way run to its end; nobody hears of it.
  func close() {
    loopback.close()
    session.withLock { state in
      state.session?.finishTasksAndInvalidate()
      state = (nil, true)
    }
  }

  /// The answer to a question; a task that is cancelled gives it up.
  ///
  /// - Throws: an `URLError`, or `CancellationError`.
  func answer(to question: HTTPQuestion) async throws -> HTTPAnswer {
    if let (address, target) = LoopbackAddress.parse(question.url),
      question.fields.allSatisfy({ $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
    {
      return try await loopback.answer(question, at: address, target)
    }
    guard let url = URL(string: question.url) else { throw URLError(.badURL) }
    guard let session = openSession() else { throw URLError(.cancelled) }
    var request = URLRequest(url: url)
    for field in question.fields { request.setValue(field.value, forHTTPHeaderField: field.name) }
    if let body = question.body {
      request.httpMethod = "POST"
      request.httpBody = Data(body)
    }
    let (data, response) = try await session.answer(to: request)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return HTTPAnswer(
      status: response.statusCode,
      fields: response.allHeaderFields.compactMap { name, value in
        guard let name = name as? String, let value = value as? String else { return nil }
        return HTTPQuestion.Field(name: name.lowercased(), value: value)
      }.sorted { $0.name < $1.name },
      body: [UInt8](data))
  }

  private func openSession() -> URLSession? {
    session.withLock { state in
      if state.session == nil, !state.isClosed { state.session = WebClient.makeSession() }
      return state.session
    }
  }

  private static func makeSession() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    // Longer than a server lets anyone wait for a push.
    configuration.timeoutIntervalForRequest = 60
    configuration.httpMaximumConnectionsPerHost = 16
    return URLSession(configuration: configuration)
  }
}
