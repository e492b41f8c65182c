import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client of the control interface of an HTTP server.
struct Control: Sendable {
  let url: URL
  let token: String

  /// The status of the server.
  struct Status: Decodable {
    var faultControl: Bool
  }

  /// An entry of the server's request log.
  struct Request: Decodable {
    var number: Int
    var device: String
    var container: String
  }

  /// A page of the server's request log.
  struct Requests: Decodable {
    var requests: [Request]
    var next: Int
  }

  /// A fault to inject.
  struct Fault: Encodable {
    var action: String
    var kind: String
    var device: String
  }

  /// The status of the server.
  func status() async throws(CloudError) -> Status { try await ask("status") }

  /// The requests after the one with `number`.
  func requests(after number: Int) async throws(CloudError) -> Requests {
    try await ask("requests", "after=\(number)&limit=10000")
  }

  /// Injects a fault.
  func add(_ fault: Fault) async throws(CloudError) { _ = try await post("faults", fault) }

  /// A web token for `account`, which is created if it does not exist.
  func signIn(as account: String) async throws(CloudError) -> String {
    struct Person: Encodable { var account: String }
    struct SignedIn: Decodable { var webAuthToken: String }
    let answer: SignedIn = try Control.decoded(await post("sign-in", Person(account: account)))
    return answer.webAuthToken
  }

  private func ask<Answer: Decodable>(
    _ endpoint: String, _ query: String? = nil
  ) async throws(CloudError) -> Answer {
    try Control.decoded(await send(endpoint, query, body: nil))
  }

  private func post(_ endpoint: String, _ body: some Encodable) async throws(CloudError) -> Data {
    let data: Data
    do { data = try JSONEncoder().encode(body) } catch {
      throw CloudError(.invalidArguments, "the request to the server cannot be encoded as JSON")
    }
    return try await send(endpoint, nil, body: data)
  }

  private static func decoded<Answer: Decodable>(_ data: Data) throws(CloudError) -> Answer {
    do { return try JSONDecoder().decode(Answer.self, from: data) } catch {
      throw CloudError(.serverRejectedRequest, "the response is not one of a cloudsync server")
    }
  }

  private func send(
    _ endpoint: String, _ query: String?, body: Data?
  ) async throws(CloudError) -> Data {
    var base = url.absoluteString
    while base.hasSuffix("/") { base.removeLast() }
    guard
      let address = URL(string: "\(base)/cloudsync/1/\(endpoint)\(query.map { "?\($0)" } ?? "")")
    else { throw CloudError(.badContainer, "the server's address is not a valid URL") }
    var request = URLRequest(url: address)
    request.cachePolicy = .reloadIgnoringLocalCacheData
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    if let body {
      request.httpMethod = "POST"
      request.httpBody = body
      request.setValue("application/json", forHTTPHeaderField: "content-type")
    }
    let answer: (Data, URLResponse)
    do { answer = try await URLSession.shared.answer(to: request) } catch {
      throw CloudError(.networkFailure, "no server answers there")
    }
    let status = (answer.1 as? HTTPURLResponse)?.statusCode ?? 0
    switch status {
    case 200: return answer.0
    case 401: throw CloudError(.notAuthenticated, "the server does not accept the control token")
    default:
      struct Refusal: Decodable { var reason: String }
      let reason = try? JSONDecoder().decode(Refusal.self, from: answer.0).reason
      throw CloudError(
        .serverRejectedRequest, reason ?? "the server is not a cloudsync server (status \(status))")
    }
  }
}
