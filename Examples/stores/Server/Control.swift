import CloudProtocol
import CloudSync
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client of the control interface of an HTTP server.
struct Control: Sendable {
  let url: URL
  let token: String

  func injectsFaults() async throws(CloudError) -> Bool {
    struct Status: Decodable { var faultControl: Bool }
    let status: Status = try await call("status")
    return status.faultControl
  }

  /// Drops the response to the next request of `device` that modifies records.
  func dropAnswer(to device: String) async throws(CloudError) {
    struct Added: Decodable {}
    let body = ["action": "drop-answers", "kind": "modifyRecords", "device": device]
    let _: Added = try await call("faults", body)
  }

  /// A web token for `account`, which is created if it does not exist.
  func signIn(as account: String) async throws(CloudError) -> String {
    struct SignedIn: Decodable { var webAuthToken: String }
    let answer: SignedIn = try await call("sign-in", ["account": account])
    return answer.webAuthToken
  }

  private struct Refusal: Decodable { var reason: String }

  private func call<Answer: Decodable>(
    _ endpoint: String, _ body: [String: String]? = nil
  ) async throws(CloudError) -> Answer {
    var base = url.absoluteString
    while base.hasSuffix("/") { base.removeLast() }
    guard let address = URL(string: "\(base)/cloudsync/1/\(endpoint)") else {
      throw CloudError(.badContainer, "the server's address is not a valid URL")
    }
    var request = URLRequest(url: address)
    request.cachePolicy = .reloadIgnoringLocalCacheData
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    if let body {
      request.httpMethod = "POST"
      request.httpBody = try? JSONEncoder().encode(body)
      request.setValue("application/json", forHTTPHeaderField: "content-type")
    }
    let (data, response): (Data, URLResponse)
    do { (data, response) = try await URLSession.shared.answer(to: request) } catch {
      throw CloudError(.networkFailure, "no server answers there")
    }
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    switch status {
    case 200: break
    case 401: throw CloudError(.notAuthenticated, "the server does not accept the control token")
    default:
      let reason = try? JSONDecoder().decode(Refusal.self, from: data).reason
      throw CloudError(
        .serverRejectedRequest, reason ?? "the server is not a cloudsync server (status \(status))")
    }
    do { return try JSONDecoder().decode(Answer.self, from: data) } catch {
      throw CloudError(.serverRejectedRequest, "the response is not one of a cloudsync server")
    }
  }
}
