import CloudProtocol
package import Foundation
import Records
import Synchronization
import WebServices

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
    /// Whether the last request that ended did not reach the server.
    var isCutOff = false
    var networkReturned: (@Sendable () -> Void)?
  }

  let settings: Settings
  private let client = WebClient()
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

  /// Has `listener` called with the first request that gets through after one that did not.
  func whenNetworkReturns(_ listener: @escaping @Sendable () -> Void) {
    state.withLock { $0.networkReturned = listener }
  }

  /// Notes whether a request reached the server.
  private func note(isReached: Bool) {
    let listener = state.withLock { state in
      defer { state.isCutOff = !isReached }
      return isReached && state.isCutOff ? state.networkReturned : nil
    }
    listener?()
  }

  /// Lets what is under way run to its end; nobody hears of it.
  func close() { client.close() }

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
    guard let errand = ClientRequest(call.request, notation) else {
      throw CloudError(.internalError, "the request can't be sent in this way")
    }
    let answer = try await exchange(errand.endpoint, of: errand.database, errand.text, call)
    if answer.status == 200 {
      guard let reply = try errand.reply(toText: answer.body) else {
        throw WebServicesSession.failure(of: answer)
      }
      return reply
    }
    return try errand.reply(to: try content(of: answer, notation))
  }

  /// Sends `body` to an endpoint; the answer's body, where the request as a whole went well.
  func send(
    _ endpoint: Endpoint, of database: DatabaseScope, _ body: JSON?, _ call: CloudCall
  ) async throws(CloudError) -> JSON {
    let answer = try await exchange(endpoint, of: database, body?.bytes, call)
    return try content(of: answer, notation(call))
  }

  /// Sends `text` to an endpoint; the answer as it came.
  private func exchange(
    _ endpoint: Endpoint, of database: DatabaseScope, _ text: [UInt8]?, _ call: CloudCall
  ) async throws(CloudError) -> HTTPAnswer {
    let path = ServicePath(
      container: call.container, environment: call.environment, database: database,
      endpoint: endpoint)
    let (token, epoch) = try await currentToken()
    var question = try question(path.text + query(token))
    if let text {
      question.body = text
      question.set("content-type", "application/json; charset=utf-8")
    }
    if settings.isExact {
      question.set(EnvelopeHeader.exact, "1")
      question.set(EnvelopeHeader.request, call.requestID)
      question.set(EnvelopeHeader.user, call.expectedUser?.rawValue)
      question.set(EnvelopeHeader.device, settings.device)
    }
    let isSafe = settings.isExact || !call.request.isMutation
    let answer = try await load(question, triesAgain: isSafe)
    if let next = answer.field(EnvelopeHeader.webToken) {
      state.withLock { state in
        if state.epoch == epoch { state.webAuthToken = next }
      }
    }
    return answer
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

  private func question(_ path: String) throws(CloudError) -> HTTPQuestion {
    let url = path.hasPrefix("http") ? path : settings.url + path
    guard LoopbackAddress.parse(url) != nil || URL(string: url) != nil else {
      throw CloudError(.badContainer, "the container's name can't be part of a URL")
    }
    return HTTPQuestion(url: url)
  }

  /// Brings bytes to a URL that the server named, or gets them from there; no token goes along.
  func load(
    _ url: String, bringing content: [UInt8]? = nil
  ) async throws(CloudError) -> HTTPAnswer {
    var question = try question(url)
    if settings.isExact { question.set(EnvelopeHeader.exact, "1") }
    if let content {
      question.body = content
      question.set("content-type", "application/octet-stream")
    }
    return try await load(question, triesAgain: true)
  }

  private func load(
    _ question: HTTPQuestion, triesAgain: Bool
  ) async throws(CloudError) -> HTTPAnswer {
    do {
      let answer = try await client.answer(to: question)
      note(isReached: true)
      return answer
    } catch {
      let failure = WebServicesSession.failure(error)
      if Task.isCancelled {
        throw CloudError(
          .operationCancelled,
          "the request was cancelled; "
            + "it may still have been carried out")
      }
      guard triesAgain, (error as? URLError)?.code == .networkConnectionLost else {
        if failure.code != .operationCancelled { note(isReached: false) }
        throw failure
      }
      return try await load(question, triesAgain: false)
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
  func content(of answer: HTTPAnswer, _ notation: Notation) throws(CloudError) -> JSON {
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
    if error.retryAfter == nil { error.retryAfter = WebServicesSession.retryAfter(answer) }
    throw error
  }

  private static func retryAfter(_ answer: HTTPAnswer) -> Double? {
    answer.field("retry-after").flatMap { Double($0) }
      .flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }

  /// What a status means that comes without a body in JSON.
  private static func failure(of answer: HTTPAnswer) -> CloudError {
    let status = answer.status
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
      retryAfter: retryAfter(answer))
  }
}
