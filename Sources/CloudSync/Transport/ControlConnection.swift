import CloudProtocol
import Foundation
import WebServices

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client of the control interface of a loopback server.
struct ControlConnection: Sendable {
  let url: URL
  let token: String

  /// Returns a web token for `account`, and creates the account if there is none.
  ///
  /// - Throws: `accountTemporarilyUnavailable` when the control token is not the server's, because
  ///   the account may still be there, `serviceUnavailable` when the server gives another answer,
  ///   `networkFailure` when it can't be reached, `networkUnavailable` when there is no network.
  func signIn(as account: String) async throws(CloudError) -> String {
    var request = URLRequest(url: url.appendingPathComponent("cloudsync/1/sign-in"))
    request.httpMethod = "POST"
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    request.setValue("application/json", forHTTPHeaderField: "content-type")
    request.httpBody = Data(JSON.members(["account": .string(account)]).bytes)
    let answer: (Data, URLResponse)
    do { answer = try await URLSession.shared.answer(to: request) } catch {
      let failure = WebServicesSession.failure(error)
      throw CloudError(failure.code, "the account could not be signed in: \(failure.message)")
    }
    let status = (answer.1 as? HTTPURLResponse)?.statusCode ?? 0
    if status == 200, let body = try? JSON(parsing: [UInt8](answer.0)),
      let token = body["webAuthToken"]?.string
    {
      return token
    }
    guard status == 401 || status == 403 else {
      throw CloudError(
        .serviceUnavailable, "the server did not sign in the account: it answered with \(status)")
    }
    throw CloudError(
      .accountTemporarilyUnavailable,
      "the server did not sign in the account; check the control token")
  }
}
