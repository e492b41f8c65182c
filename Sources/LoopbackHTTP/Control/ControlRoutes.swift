package import CloudProtocol
import Foundation
package import LoopbackServer
import Records
import WebServices

/// The control interface of a running server: inspection, the event feed and fault injection.
///
/// All endpoints are below `/cloudsync/1/` and require the control token as a bearer token; it
/// gives access to every account. Responses and bodies are JSON. `/metrics` requires the token.
/// The console page at `/console` and `/`, `/healthz` and `/readyz` contain no data and require
/// no token. Call from any task.
package struct ControlRoutes: Sendable {
  /// The error of a failed sign-in.
  package typealias SignInError = CloudError

  let server: LoopbackServer
  let allowsFaults: Bool
  let signIn: @Sendable (String) throws(CloudError) -> String
  private let apiToken: (@Sendable () -> String)?
  let clock: any Clock<Duration>
  /// Whether a fault may name an account or a device that the server does not know.
  var acceptsUnknownNames = false
  /// The limits at the start, which `clear` restores.
  let firstLimits: ServerLimits
  private let metrics: ServerMetrics
  /// Stops the program that runs the server; `nil` if a request can't.
  let stop: (@Sendable () throws -> Void)?
  private let token: [UInt8]

  /// Creates the routes of `server`.
  ///
  /// - Parameters:
  ///   - server: The server to control.
  ///   - token: The control token, which gives full access; an empty token rejects every request.
  ///   - allowsFaults: Whether fault injection and administration are enabled.
  ///   - signIn: Returns a web authentication token for an account.
  ///   - apiToken: Returns the API token for all containers, which a web token is used with.
  ///   - clock: The clock that limits how long a response waits for events.
  ///   - metrics: The counts that `/metrics` shows.
  ///   - stop: Stops the program that runs the server.
  package init(
    server: LoopbackServer, token: String, allowsFaults: Bool,
    signIn: @escaping @Sendable (_ account: String) throws(SignInError) -> String,
    apiToken: (@Sendable () -> String)? = nil, clock: any Clock<Duration>,
    metrics: ServerMetrics = ServerMetrics(), stop: (@Sendable () throws -> Void)? = nil
  ) {
    self.server = server
    self.token = Array(token.utf8)
    self.allowsFaults = allowsFaults
    self.signIn = signIn
    self.apiToken = apiToken
    self.clock = clock
    self.metrics = metrics
    self.stop = stop
    firstLimits = server.controls.isShared ? server.controls.firstLimits : server.limits
  }

  /// The maximum body size in bytes.
  package static let bodyBytes = 65_536

  /// Whether `path` belongs to the control interface.
  package func has(_ path: String) -> Bool {
    ConsolePage.paths.contains(path) || path.hasPrefix(ControlEndpoint.prefix)
      || StatusPage(rawValue: path) != nil
  }

  /// Accepts or rejects a request by its head; rejects unknown paths with 404.
  package func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    do throws(HTTPRefusal) {
      switch try target(of: head) {
      case .console, .page: return .accept(bodyBytes: 0)
      case .endpoint(.importArchive): return .accept(bodyBytes: ControlRoutes.archiveBytes)
      case .endpoint:
        return .accept(bodyBytes: head.method == "POST" ? ControlRoutes.bodyBytes : 0)
      }
    } catch { return .refuse(ControlRoutes.answer(error, to: head)) }
  }

  /// The response to a request; 404 for an unknown path.
  ///
  /// Returns early if the task is cancelled during a wait for events.
  package func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do throws(HTTPRefusal) {
      switch try target(of: request.head) {
      case .console: return ConsolePage.response
      case .page(let page): return await answer(page, isAuthorized: isAuthorized(request.head))
      case .endpoint(.exportArchive): return try exportArchive(request.head)
      case .endpoint(let endpoint):
        return ControlRoutes.answer(try await answer(endpoint, request))
      }
    } catch { return ControlRoutes.answer(error, to: request.head) }
  }
}

extension ControlRoutes {
  private enum Target {
    case console
    case page(StatusPage)
    case endpoint(ControlEndpoint)
  }

  /// The endpoint that handles a request; throws if the request is not allowed.
  private func target(of head: HTTPRequestHead) throws(HTTPRefusal) -> Target {
    if ConsolePage.paths.contains(head.path) {
      guard ["GET", "HEAD"].contains(head.method) else {
        throw HTTPRefusal(405, "the page is read-only")
      }
      return .console
    }
    if let page = StatusPage(rawValue: head.path), !page.needsToken || isAuthorized(head) {
      guard ["GET", "HEAD"].contains(head.method) else {
        throw HTTPRefusal(405, "the page is read-only")
      }
      return .page(page)
    }
    guard has(head.path) else { throw HTTPRefusal(404, "no endpoint at this path") }
    // Without a token, a client cannot find out which paths exist.
    guard isAuthorized(head) else {
      throw HTTPRefusal(401, "this endpoint requires the server's control token")
    }
    guard let endpoint = ControlEndpoint(path: head.path) else {
      throw HTTPRefusal(404, "no endpoint at this path")
    }
    guard endpoint.methods.contains(head.method) else {
      let methods = endpoint.methods.joined(separator: ", ")
      throw HTTPRefusal(405, "this endpoint takes \(methods)")
    }
    if head.method == "POST" {
      let type = head.value("content-type")
      if endpoint == .importArchive {
        guard ControlRoutes.isText(type) else {
          throw HTTPRefusal(415, "the body must be text/plain or application/json")
        }
      } else if !ControlRoutes.isJSON(type) {
        throw HTTPRefusal(415, "the body must be application/json")
      }
    }
    if endpoint == .faults, !allowsFaults {
      throw HTTPRefusal(
        403, "fault control is off; start the server with --fault-control")
    }
    return .endpoint(endpoint)
  }

  /// Whether the server runs and its storage answers, or its metrics.
  private func answer(_ page: StatusPage, isAuthorized: Bool) async -> HTTPResponse {
    switch page {
    case .health: return .text(200, "ok\n")
    case .readiness:
      do throws(CloudError) {
        try await server.checkStorage()
        return .text(200, "ok\n")
      } catch {
        // The reason may contain the path of the file or the database's host.
        let reason = isAuthorized ? server.storageUse.lastFailure : nil
        return .text(503, "\(reason ?? error.message)\n")
      }
    case .icon: return HTTPResponse(204)
    case .metrics: return .text(200, metrics.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  private static func isJSON(_ type: String?) -> Bool { isType("application/json", type) }

  private static func isText(_ type: String?) -> Bool {
    isJSON(type) || isType("text/plain", type) || isType("application/x-ndjson", type)
  }

  private static func isType(_ wanted: String, _ type: String?) -> Bool {
    guard let type else { return false }
    let parts = type.asciiLowercased.split(separator: ";", omittingEmptySubsequences: false)
      .map { part in part.filter { $0 != " " && $0 != "\t" } }
    return parts.first == wanted
      && parts.dropFirst().allSatisfy { $0 == "charset=utf-8" }
  }

  /// Whether the head contains the control token, compared in constant time.
  private func isAuthorized(_ head: HTTPRequestHead) -> Bool {
    guard let value = head.value("authorization") else { return false }
    let scheme = "bearer "
    guard value.prefix(scheme.count).asciiLowercased == scheme else { return false }
    return !token.isEmpty
      && TokenSigner.isSame(Array(value.utf8.dropFirst(scheme.utf8.count)), token)
  }

  private func answer(
    _ endpoint: ControlEndpoint, _ request: HTTPRequest
  ) async throws(HTTPRefusal) -> JSON {
    let head = request.head
    if head.method == "POST", head.query != nil, endpoint != .importArchive {
      throw HTTPRefusal(400, "the action belongs in the body, not in the query")
    }
    switch endpoint {
    case .status: return try status(head)
    case .accounts: return try accounts(head)
    case .databases: return try databases(head)
    case .zones: return try zones(head)
    case .records: return try records(head)
    case .changes: return try changes(head)
    case .subscriptions: return try subscriptions(head)
    case .schema: return try schema(head)
    case .devices: return try devices(head)
    case .requests: return try requests(head)
    case .events: return try await events(head)
    case .faults:
      if head.method == "POST" {
        try carryOut(request.body)
      } else {
        _ = try ControlQuery(head.query, knowing: [])
      }
      return try faults()
    case .signIn: return try signIn(request.body)
    case .exportArchive: throw HTTPRefusal(404, "an archive is not JSON")
    case .importArchive: return try importArchive(request)
    case .reset: return try reset(request.body)
    case .keys:
      if request.head.method == "POST" {
        try changeKeys(request.body)
      } else {
        _ = try ControlQuery(request.head.query, knowing: [])
      }
      return try keys()
    case .stop:
      try ControlArguments(request.body).finish()
      guard let stop else {
        throw HTTPRefusal(409, "the server is part of another program; end that program")
      }
      do { try stop() } catch {
        throw HTTPRefusal(503, "the server was not stopped: \(error)")
      }
      let process = ProcessInfo.processInfo.processIdentifier
      return .members(["stopping": .bool(true), "process": .integer(Int64(process))])
    }
  }

  private func signIn(_ body: [UInt8]) throws(HTTPRefusal) -> JSON {
    var arguments = try ControlArguments(body)
    let name = try arguments.text("account")
    try arguments.finish()
    let user = try ask { () throws(CloudError) in
      try ServerKeys.checkSignIn(name)
      return try server.user(of: name)
    }
    let token = try ask { () throws(CloudError) in try signIn(name) }
    return .members([
      "account": .string(name), "userRecordName": .string(user.rawValue),
      "webAuthToken": .string(token), "apiToken": ControlNotation.text(apiToken?()),
    ])
  }

  /// Calls the server and converts its error to an HTTP error response.
  func ask<Value>(_ body: () throws(CloudError) -> Value) throws(HTTPRefusal) -> Value {
    do throws(CloudError) { return try body() } catch { throw ControlRoutes.refusal(error) }
  }

  /// The HTTP error response for an error of the server.
  static func refusal(_ error: CloudError) -> HTTPRefusal {
    HTTPRefusal(Notation.errorCode(for: error.code).status, error.message)
  }
}

extension ControlRoutes {
  private static func answer(_ json: JSON) -> HTTPResponse { .json(200, json) }

  private static func answer(_ refusal: HTTPRefusal, to head: HTTPRequestHead) -> HTTPResponse {
    var response = HTTPResponse.json(
      refusal.status,
      .members([
        "reason": .string(refusal.reason), "index": refusal.index.map { .integer($0) },
      ]))
    switch refusal.status {
    case 401: response.fields.append(.init(name: "www-authenticate", value: "Bearer"))
    case 405:
      let methods = ControlEndpoint(path: head.path)?.methods ?? ["GET", "HEAD"]
      response.fields.append(.init(name: "allow", value: methods.joined(separator: ", ")))
    default: break
    }
    return response
  }
}

/// A page for programs that watch the server, and for browsers.
enum StatusPage: String, CaseIterable {
  /// Whether the process answers.
  case health = "/healthz"
  /// Whether the storage answers, too.
  case readiness = "/readyz"
  /// The counts and times of requests.
  case metrics = "/metrics"
  /// The icon that browsers ask for; there is none.
  case icon = "/favicon.ico"

  /// Whether the page requires the control token.
  var needsToken: Bool { self == .metrics }
}

extension HTTPResponse {
  fileprivate static func text(
    _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8"
  ) -> HTTPResponse {
    HTTPResponse(status, type: type, body: Array(text.utf8))
  }
}
