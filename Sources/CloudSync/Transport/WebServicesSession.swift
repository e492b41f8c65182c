import CloudProtocol
package import Foundation
import Records
import Synchronization
import WebServices

/// Sends Web Services requests to one server and keeps the signed-in account.
package final class WebServicesSession: Sendable {
  /// The settings of a session.
  package struct Settings: Sendable {
    /// The URL of the server, without a slash at the end.
    package var url: String
    /// The API token of the app.
    package var apiToken: String
    /// This device's name.
    package var device: String
    /// Whether the server is known to understand the extension members.
    package var isExact: Bool

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - url: The URL of the server; `nil` for Apple's.
    ///   - apiToken: The API token of the app.
    ///   - device: This device's name; `nil` for a new one. A server sends no push to the device
    ///     that made a change, so two devices must not share a name.
    ///   - understandsExtras: Whether the server understands the extension members; `nil` assumes
    ///     that every server does except Apple's.
    package init(
      url: URL?, apiToken: String, device: String?, understandsExtras: Bool?
    ) {
      var text = url?.absoluteString ?? WebServicesTransport.appleService
      while text.hasSuffix("/") { text.removeLast() }
      self.url = text
      self.apiToken = apiToken
      let program = ProcessInfo.processInfo.processName.prefix(64)
      self.device = device ?? "\(program) \(UUID().uuidString.prefix(8))"
      isExact = understandsExtras ?? !text.lowercased().hasPrefix(WebServicesTransport.appleService)
    }
  }

  private struct State {
    var webAuthToken: String?
    /// Incremented at each sign-in, so that a late response does not restore an old token.
    var epoch = 0
    var user: UserID?
    /// The number of requests that were begun.
    var begunCount = 0
    /// The number of requests that were begun when the last one did not reach the server; `nil`
    /// after a later one that did.
    var cutOff: Int?
    var networkReturned: (@Sendable () -> Void)?

    /// Whether a request of `call`, which began at the sign-in with this number, may use the token.
    ///
    /// Only a server that understands the extension members knows for whom a request is.
    func admits(_ call: CloudCall, since epoch: Int, isExact: Bool) -> Bool {
      let isOfUser = call.expectedUser == nil || call.expectedUser == user
      if case .fetchCurrentUser = call.request { return isOfUser || user == nil }
      return epoch == self.epoch && (isOfUser || isExact && user == nil)
    }
  }

  let settings: Settings
  private let client = WebClient()
  /// Apart from the other requests: each container waits for its pushes on a connection of its own,
  /// and together they would occupy those on which the app's requests travel.
  private let pushClient = WebClient(maximumConnections: 256)
  private let state: Mutex<State>
  private let signIn: (@Sendable () async throws(CloudError) -> String)?

  init(
    _ settings: Settings, webAuthToken: String?,
    signIn: (@Sendable () async throws(CloudError) -> String)?
  ) {
    self.settings = settings
    self.signIn = signIn
    state = Mutex(State(webAuthToken: webAuthToken))
  }

  /// Calls `listener` when a request reaches the server that was begun after one that did not.
  func whenNetworkReturns(_ listener: @escaping @Sendable () -> Void) {
    state.withLock { $0.networkReturned = listener }
  }

  /// Records that the request with this number reached the server.
  private func noteReached(_ number: Int) {
    let listener = state.withLock { state -> (@Sendable () -> Void)? in
      // A request from before the failure does not tell whether the network is there now.
      guard let cutOff = state.cutOff, number > cutOff else { return nil }
      state.cutOff = nil
      return state.networkReturned
    }
    listener?()
  }

  /// Refuses further requests; running ones complete and their results are dropped.
  func close() {
    client.close()
    pushClient.close()
  }

  var webAuthToken: String? { state.withLock { $0.webAuthToken } }

  /// Whether an account is, or can be, signed in.
  var canSignIn: Bool { signIn != nil || webAuthToken != nil }

  func signIn(webAuthToken: String?) {
    state.withLock { state in
      state.webAuthToken = webAuthToken
      state.epoch += 1
      state.user = nil
    }
  }

  /// The number of the sign-in.
  var epoch: Int { state.withLock { $0.epoch } }

  /// Notes the user of the account that was signed in at the sign-in with this number.
  func learn(_ user: UserID, since epoch: Int) {
    state.withLock { if $0.epoch == epoch { $0.user = user } }
  }

  /// The notation of records for `call`.
  func notation(_ call: CloudCall) -> Notation {
    var notation = Notation(
      container: call.container, database: call.database, isExact: settings.isExact)
    if !settings.isExact { notation.sharePrefix = "https://www.icloud.com/share/" }
    return notation
  }

  /// Performs a call, or a part of it, that takes one HTTP request.
  ///
  /// - Parameter epoch: The number of the sign-in at which the call began.
  func run(_ call: CloudCall, since epoch: Int) async throws(CloudError) -> CloudReply {
    let notation = notation(call)
    guard let clientRequest = ClientRequest(call.request, notation) else {
      throw CloudError(.internalError, "the request can't be sent in this way")
    }
    let answer = try await exchange(
      clientRequest.endpoint, of: clientRequest.database, clientRequest.text, call, since: epoch)
    if answer.status == 200 {
      guard let reply = try clientRequest.reply(toText: answer.body) else {
        throw WebServicesSession.failure(of: answer)
      }
      return reply
    }
    return try clientRequest.reply(to: try content(of: answer, notation))
  }

  /// Sends `body` to an endpoint and returns the body of the response.
  ///
  /// - Parameter epoch: The number of the sign-in at which the call began.
  /// - Throws: the error of the request as a whole.
  func send(
    _ endpoint: Endpoint, of database: DatabaseScope, _ body: JSON?, _ call: CloudCall,
    since epoch: Int
  ) async throws(CloudError) -> JSON {
    let answer = try await exchange(endpoint, of: database, body?.bytes, call, since: epoch)
    return try content(of: answer, notation(call))
  }

  /// Sends `text` to an endpoint and returns the response unchanged.
  ///
  /// When the server refuses the token, a session that can sign in does so once, and repeats the
  /// request: it was not carried out.
  ///
  /// - Throws: `accountTemporarilyUnavailable` when the server refuses the token;
  ///   `notAuthenticated` if a sign-in came after the start of the call, or its account is not the
  ///   one that is known to be signed in.
  private func exchange(
    _ endpoint: Endpoint, of database: DatabaseScope, _ text: [UInt8]?, _ call: CloudCall,
    since start: Int, signsInAgain: Bool = true
  ) async throws(CloudError) -> HTTPClientResponse {
    let path = ServicePath(
      container: call.container, environment: call.environment, database: database,
      endpoint: endpoint)
    let (token, epoch) = try await currentToken(for: call, since: start)
    var request = try makeRequest(path.text + query(token))
    if let text {
      request.body = text
      request.set("content-type", "application/json; charset=utf-8")
    }
    if settings.isExact {
      request.set(EnvelopeHeader.exact, "1")
      request.set(EnvelopeHeader.request, call.requestID)
      request.set(EnvelopeHeader.user, call.expectedUser?.rawValue)
      request.set(EnvelopeHeader.device, settings.device)
    }
    let isSafe = settings.isExact || !call.request.isMutation
    let answer = try await load(request, retries: isSafe)
    if let next = answer.field(EnvelopeHeader.webToken) {
      state.withLock { state in
        if state.epoch == epoch { state.webAuthToken = next }
      }
    }
    guard let token, let reason = try refusalOfToken(answer, notation(call)) else { return answer }
    guard signIn != nil, signsInAgain else {
      throw CloudError(
        .accountTemporarilyUnavailable, "the server refused the tokens of the request: \(reason)",
        retryAfter: WebServicesSession.retryAfter(answer))
    }
    state.withLock { state in
      if state.epoch == epoch, state.webAuthToken == token { state.webAuthToken = nil }
    }
    return try await exchange(
      endpoint, of: database, text, call, since: start, signsInAgain: false)
  }

  /// The server's reason for refusing the token of a request; `nil` if it did not.
  ///
  /// Only a device without a token is signed out. The account of a refused token still exists, so
  /// nothing may be removed. Rule: CE-174.
  private func refusalOfToken(
    _ answer: HTTPClientResponse, _ notation: Notation
  ) throws(CloudError) -> String? {
    guard answer.status == 401 || answer.status == 421, let json = try? JSON(parsing: answer.body),
      let error = try notation.error(json), error.code == .notAuthenticated,
      json[Notation.extra] == nil
    else { return nil }
    return error.message
  }

  private func query(_ token: String?) -> String {
    var query = "?ckAPIToken=" + WebServicesSession.escaped(settings.apiToken)
    if let token { query += "&ckWebAuthToken=" + WebServicesSession.escaped(token) }
    return query
  }

  /// `text` with every character escaped that has a meaning in a query.
  private static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  /// The token for a request of `call`, which began at the sign-in `start`, and the number of the
  /// sign-in that it belongs to.
  private func currentToken(
    for call: CloudCall, since start: Int
  ) async throws(CloudError) -> (String?, Int) {
    let (token, epoch) = state.withLock { ($0.webAuthToken, $0.epoch) }
    var fresh: String?
    if token == nil, let signIn { fresh = try await signIn() }
    let isExact = settings.isExact
    let current = state.withLock { state -> (String?, Int)? in
      if state.webAuthToken == nil, state.epoch == epoch { state.webAuthToken = fresh }
      guard state.admits(call, since: start, isExact: isExact) else { return nil }
      return (state.webAuthToken, state.epoch)
    }
    guard let current else {
      throw CloudError(
        .notAuthenticated,
        "the request was not sent: its account is not known to be signed in, or a sign-in came "
          + "after its start; fetch the current user, then send it again")
    }
    return current
  }

  // MARK: HTTP

  private func makeRequest(_ path: String) throws(CloudError) -> HTTPClientRequest {
    let url = path.hasPrefix("http") ? path : settings.url + path
    guard LoopbackAddress.parse(url) != nil || URL(string: url) != nil else {
      throw CloudError(.badContainer, "the container's name can't be part of a URL")
    }
    return HTTPClientRequest(url: url)
  }

  /// Uploads bytes to a URL that the server named, or downloads them from there, without a token.
  func load(
    _ url: String, uploading content: [UInt8]? = nil
  ) async throws(CloudError) -> HTTPClientResponse {
    var request = try makeRequest(url)
    if settings.isExact { request.set(EnvelopeHeader.exact, "1") }
    if let content {
      request.body = content
      request.set("content-type", "application/octet-stream")
    }
    return try await load(request, retries: true)
  }

  /// Waits at the URL that the server named for pushes.
  func waitForPush(at url: String) async throws(CloudError) -> HTTPClientResponse {
    var request = try makeRequest(url)
    if settings.isExact { request.set(EnvelopeHeader.exact, "1") }
    return try await load(request, by: pushClient, retries: true)
  }

  private func load(
    _ request: HTTPClientRequest, by client: WebClient? = nil, retries: Bool
  ) async throws(CloudError) -> HTTPClientResponse {
    let number = state.withLock { state in
      state.begunCount += 1
      return state.begunCount
    }
    do {
      let answer = try await (client ?? self.client).send(request)
      noteReached(number)
      return answer
    } catch {
      let failure = WebServicesSession.failure(error)
      if Task.isCancelled {
        throw CloudError(
          .operationCancelled,
          "the request was cancelled; "
            + "it may still have been carried out")
      }
      guard retries, (error as? URLError)?.code == .networkConnectionLost else {
        if failure.code != .operationCancelled {
          state.withLock { $0.cutOff = $0.begunCount }
        }
        throw failure
      }
      return try await load(request, by: client, retries: false)
    }
  }

  /// The CloudKit error for a network error.
  static func failure(_ error: any Error) -> CloudError {
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

  /// The body of a response.
  ///
  /// - Throws: the error that the body or the status reports.
  func content(of answer: HTTPClientResponse, _ notation: Notation) throws(CloudError) -> JSON {
    let body: JSON
    do throws(JSONParsingError) { body = try JSON(parsing: answer.body) } catch {
      throw WebServicesSession.failure(of: answer)
    }
    guard answer.status != 200 else { return body }
    guard var error = try notation.error(body) else {
      throw WebServicesSession.failure(of: answer)
    }
    if answer.status == 413, error.code == .invalidArguments {
      // A body that is too long is refused before the service reads it, as a bad request.
      error.code = .limitExceeded
    }
    // The server or a proxy did not receive the whole request, so it is sent again.
    if answer.status == 408 { error.code = .serviceUnavailable }
    if error.retryAfter == nil { error.retryAfter = WebServicesSession.retryAfter(answer) }
    throw error
  }

  /// The number of seconds after which the server allows another request; `nil` if it names none.
  ///
  /// A date counts from the date of the answer, since this device's clock may be wrong.
  static func retryAfter(_ answer: HTTPClientResponse) -> Double? {
    guard let text = answer.field("retry-after") else { return nil }
    if let seconds = Double(text) { return seconds.isFinite && seconds >= 0 ? seconds : nil }
    guard let end = date(text), let now = answer.field("date").flatMap(date) else { return nil }
    return max(0, end.timeIntervalSince(now))
  }

  /// The date of a header field, such as `Fri, 07 Nov 2025 23:59:59 GMT`.
  private static func date(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.date(from: text)
  }

  /// The error for a response that the service did not write, such as one of a proxy.
  ///
  /// It says nothing about the account or the changes, so they are kept and sent again; a body that
  /// is too long for a proxy is divided. Rule: CE-175.
  private static func failure(of answer: HTTPClientResponse) -> CloudError {
    let status = answer.status
    let code: CloudError.Code =
      switch status {
      case 413: .limitExceeded
      case 429: .requestRateLimited
      default: .serviceUnavailable
      }
    return CloudError(
      code,
      "the response with status \(status) is not from CloudKit Web Services; "
        + "check the server's URL, and proxies in between",
      retryAfter: retryAfter(answer))
  }
}
