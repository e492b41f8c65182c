import CloudProtocol
package import Foundation
import Records
import Synchronization
import WebServices

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries errands to one server by HTTP and keeps who is signed in there.
package final class WebServicesSession: Sendable {
  /// What does not change.
  package struct Settings: Sendable {
    /// Where the server is, without a slash at the end.
    package var url: String
    /// What lets the app in.
    package var apiToken: String
    /// This device's name.
    package var device: String?
    /// Whether the server is known to understand the extra members.
    package var isExact: Bool

    /// Settles how to reach a server.
    ///
    /// - Parameters:
    ///   - url: Where it is; `nil` for Apple's.
    ///   - apiToken: What lets the app in.
    ///   - device: This device's name.
    ///   - understandsExtras: Whether it understands the extra members; `nil` when it is on this
    ///     machine, where no other service is.
    package init(
      url: URL?, apiToken: String, device: String?, understandsExtras: Bool?
    ) {
      var text = url?.absoluteString ?? WebServicesTransport.appleService
      while text.hasSuffix("/") { text.removeLast() }
      self.url = text
      self.apiToken = apiToken
      self.device = device
      let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(url?.host ?? "")
      isExact = understandsExtras ?? isHere
    }
  }

  private struct State {
    var webAuthToken: String?
    /// Rises when somebody else signs in, so that a late answer brings no old token back.
    var epoch = 0
    var user: UserID?
  }

  let settings: Settings
  private let session: URLSession
  private let state: Mutex<State>
  private let signIn: (@Sendable () async throws(CloudError) -> String)?

  init(
    _ settings: Settings, webAuthToken: String?,
    signIn: (@Sendable () async throws(CloudError) -> String)?
  ) {
    self.settings = settings
    self.signIn = signIn
    state = Mutex(State(webAuthToken: webAuthToken))
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    // Longer than a server lets anyone wait for a push.
    configuration.timeoutIntervalForRequest = 60
    configuration.httpMaximumConnectionsPerHost = 16
    session = URLSession(configuration: configuration)
  }

  /// Lets what is under way run to its end; nobody hears of it.
  func close() { session.finishTasksAndInvalidate() }

  var webAuthToken: String? { state.withLock { $0.webAuthToken } }

  /// Whether somebody is, or can be, signed in.
  var canSignIn: Bool { signIn != nil || webAuthToken != nil }

  func signIn(webAuthToken: String?) {
    state.withLock { state in
      state.webAuthToken = webAuthToken
      state.epoch += 1
      state.user = nil
    }
  }

  func learn(_ user: UserID) { state.withLock { $0.user = user } }

  /// Refuses what is meant for another account than is known to be signed in.
  func check(_ expected: UserID?) throws(CloudError) {
    guard let expected, let user = state.withLock({ $0.user }), user != expected else { return }
    throw CloudError(.notAuthenticated, "another account is signed in now")
  }

  /// How records are written down for `call`.
  func notation(_ call: CloudCall) -> Notation {
    var notation = Notation(
      container: call.container, database: call.database, isExact: settings.isExact)
    if !settings.isExact { notation.sharePrefix = "https://www.icloud.com/share/" }
    return notation
  }

  /// Has a call answered that is one errand.
  func run(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let notation = notation(call)
    guard let errand = Errand(call.request, notation) else {
      throw CloudError(.internalError, "the request can't be sent in this way")
    }
    let (data, response) = try await exchange(
      errand.endpoint, of: errand.database, errand.text, call)
    if response.statusCode == 200 {
      guard let reply = try errand.reply(toText: [UInt8](data)) else {
        throw WebServicesSession.failure(of: response.statusCode, response)
      }
      return reply
    }
    return try errand.reply(to: try answer(data, response, notation))
  }

  /// Sends `body` to an endpoint; the answer's body, where the request as a whole went well.
  func send(
    _ endpoint: Endpoint, of database: DatabaseScope, _ body: JSON?, _ call: CloudCall
  ) async throws(CloudError) -> JSON {
    let (data, response) = try await exchange(endpoint, of: database, body?.bytes, call)
    return try answer(data, response, notation(call))
  }

  /// Sends `text` to an endpoint; the answer as it came.
  private func exchange(
    _ endpoint: Endpoint, of database: DatabaseScope, _ text: [UInt8]?, _ call: CloudCall
  ) async throws(CloudError) -> (Data, HTTPURLResponse) {
    let path = ServicePath(
      container: call.container, environment: call.environment, database: database,
      endpoint: endpoint)
    let (token, epoch) = try await currentToken()
    var request = try request(path.text + query(token))
    if let text {
      request.httpMethod = "POST"
      request.httpBody = Data(text)
      request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "content-type")
    }
    if settings.isExact {
      request.setValue("1", forHTTPHeaderField: EnvelopeHeader.exact)
      request.setValue(call.requestID, forHTTPHeaderField: EnvelopeHeader.request)
      request.setValue(call.expectedUser?.rawValue, forHTTPHeaderField: EnvelopeHeader.user)
      request.setValue(settings.device, forHTTPHeaderField: EnvelopeHeader.device)
    }
    let isSafe = settings.isExact || !call.request.isMutation
    let (data, response) = try await load(request, triesAgain: isSafe)
    if let next = response.value(forHTTPHeaderField: EnvelopeHeader.webToken) {
      state.withLock { state in
        if state.epoch == epoch { state.webAuthToken = next }
      }
    }
    return (data, response)
  }

  private func query(_ token: String?) -> String {
    var query = "?ckAPIToken=" + WebServicesSession.escaped(settings.apiToken)
    if let token { query += "&ckWebAuthToken=" + WebServicesSession.escaped(token) }
    return query
  }

  /// With every character escaped that could mean something in a query.
  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  private func currentToken() async throws(CloudError) -> (String?, Int) {
    let (token, epoch) = state.withLock { ($0.webAuthToken, $0.epoch) }
    guard token == nil, let signIn else { return (token, epoch) }
    let fresh = try await signIn()
    return state.withLock { state in
      if state.webAuthToken == nil, state.epoch == epoch { state.webAuthToken = fresh }
      return (state.webAuthToken, state.epoch)
    }
  }

  // MARK: HTTP

  private func request(_ path: String) throws(CloudError) -> URLRequest {
    guard let url = URL(string: path.hasPrefix("http") ? path : settings.url + path) else {
      throw CloudError(.badContainer, "the container's name can't be part of a URL")
    }
    return URLRequest(url: url)
  }

  /// Brings bytes to a URL that the server named, or gets them from there; no token goes along.
  func load(
    _ url: String, bringing content: [UInt8]? = nil
  ) async throws(CloudError) -> ([UInt8], HTTPURLResponse) {
    var request = try request(url)
    if let content {
      request.httpMethod = "POST"
      request.httpBody = Data(content)
      request.setValue("application/octet-stream", forHTTPHeaderField: "content-type")
    }
    let (data, response) = try await load(request, triesAgain: true)
    return ([UInt8](data), response)
  }

  private func load(
    _ request: URLRequest, triesAgain: Bool
  ) async throws(CloudError) -> (Data, HTTPURLResponse) {
    do {
      let (data, response) = try await session.answer(to: request)
      guard let response = response as? HTTPURLResponse else {
        throw CloudError(.networkFailure, "the answer is not one of HTTP")
      }
      return (data, response)
    } catch let error as CloudError {
      throw error
    } catch {
      let failure = WebServicesSession.failure(error)
      if Task.isCancelled {
        throw CloudError(
          .operationCancelled,
          "the request was cancelled; "
            + "it may still have been carried out")
      }
      guard triesAgain, (error as? URLError)?.code == .networkConnectionLost else { throw failure }
      return try await load(request, triesAgain: false)
    }
  }

  /// What an error of the network is to CloudKit.
  private static func failure(_ error: any Error) -> CloudError {
    guard let error = error as? URLError else {
      return CloudError(.networkFailure, "the request failed: \(error)")
    }
    switch error.code {
    case .cancelled:
      return CloudError(.operationCancelled, "the request was cancelled")
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
      return CloudError(.networkUnavailable, "there is no network")
    default:
      return CloudError(
        .networkFailure, "the server can't be reached, or did not answer (\(error.code.rawValue))")
    }
  }

  /// The body of an answer, or the failure that it or its status tells.
  func answer(
    _ data: Data, _ response: HTTPURLResponse, _ notation: Notation
  ) throws(CloudError) -> JSON {
    let body: JSON
    do throws(JSONFault) { body = try JSON(parsing: [UInt8](data)) } catch {
      throw WebServicesSession.failure(of: response.statusCode, response)
    }
    guard response.statusCode != 200 else { return body }
    guard var error = try notation.error(body) else {
      throw WebServicesSession.failure(of: response.statusCode, response)
    }
    if error.retryAfter == nil { error.retryAfter = WebServicesSession.retryAfter(response) }
    throw error
  }

  private static func retryAfter(_ response: HTTPURLResponse) -> Double? {
    response.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
      .flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }

  /// What a status means that comes without a body in JSON.
  private static func failure(of status: Int, _ response: HTTPURLResponse) -> CloudError {
    let code: CloudError.Code =
      switch status {
      case 401, 421: .notAuthenticated
      case 403: .permissionFailure
      case 413: .limitExceeded
      case 429: .requestRateLimited
      case 500...599: .serviceUnavailable
      default: .serverRejectedRequest
      }
    return CloudError(
      code, "the server answered with status \(status) and no JSON",
      retryAfter: retryAfter(response))
  }
}
