import CloudProtocol
import Foundation
import LoopbackServer
import Records
import WebServices

/// The sign-in of web pages: a page that offers the accounts of the server and gives a web token to
/// the page that opened it.
///
/// A request without an account gets a `redirectURL` with a ticket, which names the container and
/// ends after ten minutes. The page at that URL contains no data. With the ticket it asks for the
/// accounts, and then for the token of one; only the server's own page may ask.
///
/// Pages of the allowed origins get the token: as a message to the window that opened the page, or
/// in the query of a callback URL. A server that other machines can reach requires the control
/// token besides, because an API token is no secret. Rules: WS-8 to WS-13.
struct SignInRoutes: Sendable {
  static let path = "/sign-in"
  /// The lifetime of a ticket in seconds.
  static let ticketSeconds: Double = 10 * 60
  private static let bodyBytes = 8192

  let server: LoopbackServer
  let tokens: AccessTokens
  /// The origins whose pages may get a token.
  let origins: [String]
  /// The control token that a sign-in requires; `nil` if it requires none.
  let controlToken: String?

  /// The URL of the page for a container.
  static func url(_ baseURL: String, container: String, _ tokens: AccessTokens) -> String {
    let until = tokens.clock().secondsSinceReferenceDate + ticketSeconds
    let ticket = tokens.signer.sign(.signIn) { writer in
      writer.write(container)
      writer.write(until)
    }
    return "\(baseURL)\(path)?ticket=\(ticket)"
  }

  /// Accepts or rejects a request to the path by its head.
  static func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    switch head.method {
    case "GET", "HEAD": .accept(bodyBytes: 0)
    case "POST": .accept(bodyBytes: bodyBytes)
    default: .refuse(.wrongMethod(["GET", "HEAD", "POST"]))
    }
  }

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    guard request.head.method == "POST" else { return SignInPage.response }
    do throws(CloudError) {
      let body = try ServerRequest.body(request.body)
      guard let container = container(try body.text("ticket")) else {
        return .failure(
          401, "AUTHENTICATION_FAILED",
          "the sign-in has expired or did not begin at this server; begin again in the app")
      }
      guard !origins.isEmpty else {
        return .failure(
          409, "BAD_REQUEST",
          "no page may use this server; start it with --allow-origin and the app's origin")
      }
      if let controlToken {
        let given = try body.optionalText("controlToken") ?? ""
        guard TokenSigner.isSame(given.utf8, controlToken.utf8) else {
          return .failure(403, "ACCESS_DENIED", "that is not the control token of this server")
        }
      }
      let callback = try callback(try body.optionalText("callback"))
      guard let account = try body.optionalText("account") else {
        return .json(
          200,
          .members([
            "container": .string(container), "origins": .array(origins.map { .string($0) }),
            "accounts": .array(
              try server.accounts().filter { !ServerKeys.isKey(account: $0.name) }
                .map { .string($0.name) }),
          ]))
      }
      try ServerKeys.checkSignIn(account)
      _ = try server.user(of: account)
      let token = tokens.webToken(for: account, container: container)
      return .json(
        200,
        .members([
          "ckWebAuthToken": .string(token), "origins": .array(origins.map { .string($0) }),
          "redirect": try callback.map { (callback) throws(CloudError) in
            .string(try redirect(callback, token))
          },
        ]))
    } catch {
      return .failure(400, "BAD_REQUEST", error.message)
    }
  }

  /// The container of a ticket; `nil` if it is not valid or has expired.
  private func container(_ ticket: String) -> String? {
    let known = tokens.signer.verify(ticket, .signIn) { (reader) throws(ByteFormatError) in
      (container: try reader.string(), until: try reader.double())
    }
    guard let known, tokens.clock().secondsSinceReferenceDate <= known.until else { return nil }
    return known.container
  }

  /// The callback URL, which must be one of an allowed origin.
  private func callback(_ text: String?) throws(CloudError) -> URLComponents? {
    guard let text else { return nil }
    guard let url = URLComponents(string: text), url.user == nil, url.password == nil,
      let scheme = url.scheme, let host = url.encodedHost,
      let origin = WebOrigin("\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"),
      origins.contains(origin.text)
    else {
      throw CloudError(
        .invalidArguments,
        "the callback is not a URL of an allowed origin; start the server with --allow-origin")
    }
    return url
  }

  private func redirect(_ callback: URLComponents, _ token: String) throws(CloudError) -> String {
    var url = callback
    url.queryItems = (url.queryItems ?? []) + [URLQueryItem(name: "ckWebAuthToken", value: token)]
    guard let text = url.string else { throw .malformed("the callback is not a URL") }
    return text
  }
}

/// The page that offers the accounts, and gives a message to the window that opened it.
private enum SignInPage {
  static let response = StaticPage(
    script: [PackageResources.sign_in_js], style: PackageResources.sign_in_css,
    markup: PackageResources.sign_in_html
  ).response(isAlone: false)
}
