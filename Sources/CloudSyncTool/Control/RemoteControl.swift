import CloudSync
import CommandLineKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The control interface of a running server, over HTTP.
struct RemoteControl: ControlInterface {
  let url: URL
  let token: String
  /// For transfers of archives, which the server makes or reads as a whole before it answers.
  private let transfers: URLSessionConfiguration
  private let session: URLSession

  /// Creates a client for the server with this URL and control token.
  ///
  /// - Parameter seconds: how long a request other than a transfer may wait for its response.
  init(url: URL, token: String, timeout seconds: Int) {
    self.url = url
    self.token = token
    func configuration(seconds: Int) -> URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = TimeInterval(seconds)
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      return configuration
    }
    transfers = configuration(seconds: 86_400)
    session = URLSession(configuration: configuration(seconds: seconds))
  }

  func send(_ request: ControlRequest) async throws -> [UInt8] {
    try await send(request, session.configuration) { try await session.answer(to: $0) }
  }

  /// Sends a request, shows the progress of the transfer, and returns the body of the response.
  func send(
    _ request: ControlRequest, showing words: Transfer.Words, _ output: Output
  ) async throws -> [UInt8] {
    try await send(request, transfers) {
      try await Transfer.answer(to: $0, words, configuration: transfers, output)
    }
  }

  private func send(
    _ request: ControlRequest, _ configuration: URLSessionConfiguration,
    by answer: (URLRequest) async throws -> (Data, URLResponse)
  ) async throws -> [UInt8] {
    let target = request.target
    var base = url.absoluteString
    while base.hasSuffix("/") { base.removeLast() }
    guard let address = URL(string: base + target.path + (target.query.map { "?\($0)" } ?? ""))
    else { throw ToolError("\(quoted(base)) is not a server address") }
    var urlRequest = URLRequest(url: address)
    urlRequest.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    if let body = request.body {
      urlRequest.httpMethod = "POST"
      urlRequest.httpBody = Data(body)
      urlRequest.setValue(request.bodyType, forHTTPHeaderField: "content-type")
    }
    let data: Data
    let response: URLResponse
    do { (data, response) = try await answer(urlRequest) } catch {
      let seconds = Int(configuration.timeoutIntervalForRequest)
      let reason =
        switch (error as? URLError)?.code {
        case .cannotConnectToHost: "no server answers at \(base); is it running?"
        case .timedOut:
          "the server at \(base) did not answer within \(seconds) s; it may still do what was "
            + "asked"
        default: "no server answers at \(base): \((error as NSError).localizedDescription)"
        }
      throw ToolError(reason, code: ExitCode.unavailable)
    }
    guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
      throw refusal(request, (response as? HTTPURLResponse)?.statusCode ?? 0, [UInt8](data))
    }
    return [UInt8](data)
  }

  func close() { session.finishTasksAndInvalidate() }
}
