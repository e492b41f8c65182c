import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import WebServices

/// The routes of CloudKit Web Services: `/database/…`, `/device/…`, and the tickets they hand out.
struct ServiceRoutes: Sendable {
  /// The most bytes of a body of JSON that saves records: a request's limit holds for what it says,
  /// which may take several times as many to write down.
  static let savingBytes = 24 << 20
  /// The most bytes of any other body: two hundred names and what is said about them.
  static let askingBytes = 2 << 20

  /// The most items of one request of a client that is not this package's.
  ///
  /// Source: web-services 1.11.
  static let items = 200

  let server: LoopbackServer
  let tokens: AccessTokens
  let courier: Courier
  let baseURL: String
  private let paths = KnownPaths()

  init(server: LoopbackServer, tokens: AccessTokens, courier: Courier, baseURL: String) {
    self.server = server
    self.tokens = tokens
    self.courier = courier
    self.baseURL = baseURL
  }

  /// A request that was let in.
  struct Visit: Sendable {
    var path: ServicePath
    var items: QueryItems
    var bearer: AccessTokens.Bearer?
    var device: LoopbackDevice
    var deviceName: String
    var notation: Notation
    var requestID: String
    var expectedUser: UserID?

    func call(_ request: CloudRequest, _ suffix: String = "") -> CloudCall {
      CloudCall(
        container: path.container, environment: path.environment, database: path.database,
        expectedUser: expectedUser, requestID: requestID + suffix, request: request)
    }
  }

  /// Whether a request with this head is let in; `nil` when the path is none of these.
  func admission(_ head: HTTPRequestHead) -> HTTPAdmission? {
    if let ticket = Ticket(path: head.path, seal: tokens.seal) {
      guard ticket.methods.contains(head.method) else {
        return .refuse(.wrongMethod(ticket.methods))
      }
      if ticket.isUpload, !head.values("content-range").isEmpty {
        // Source: RFC 9110, section 14.5.
        return .refuse(
          HTTPResponse(HTTPRefusal(400, "a part of a file is not taken: send the whole file")))
      }
      if let refusal = refusal(of: ticket, head) { return .refuse(refusal) }
      return .accept(bodyBytes: ticket.isUpload ? server.limits.assetBytes : 0)
    }
    guard head.path.hasPrefix("/database/") || head.path.hasPrefix("/device/") else { return nil }
    guard let path = paths.path(head.path) else {
      return .refuse(.failure(404, "NOT_FOUND", "there is no such endpoint"))
    }
    let methods = ServiceRoutes.methods(of: path)
    guard methods.contains(head.method) else { return .refuse(.wrongMethod(methods)) }
    let finding = finding(QueryItems(head.query), path)
    if let refusal = refusal(of: finding, path) { return .refuse(refusal) }
    return .accept(
      bodyBytes: path.endpoint == .recordsModify
        ? ServiceRoutes.savingBytes : ServiceRoutes.askingBytes)
  }

  /// The methods that `path` takes; `nil` when there is nothing.
  func methods(of path: String) -> [String]? {
    Ticket(path: path, seal: tokens.seal)?.methods
      ?? paths.path(path).map(ServiceRoutes.methods)
  }

  private static func methods(of path: ServicePath) -> [String] {
    path.endpoint.takesGet ? ["GET", "HEAD", "POST", "OPTIONS"] : ["POST", "OPTIONS"]
  }

  /// The answer to a request that was let in; `nil` when the request was carried out and its answer
  /// is lost.
  func answer(_ request: HTTPRequest) async -> HTTPResponse? {
    if let ticket = Ticket(path: request.head.path, seal: tokens.seal) {
      return await answer(ticket, request)
    }
    guard let path = paths.path(request.head.path) else {
      return .failure(404, "NOT_FOUND", "there is no such endpoint")
    }
    let items = QueryItems(request.head.query)
    let finding = finding(items, path)
    if let refusal = refusal(of: finding, path) { return refusal }
    var bearer: AccessTokens.Bearer?
    if case .person(let person) = finding { bearer = person }
    var response = await answer(request, items, path, bearer)
    if let bearer {
      let next = tokens.webToken(for: bearer.account, container: bearer.container)
      response?.fields.append(.init(name: EnvelopeHeader.webToken, value: next))
    }
    return response
  }

  private func answer(
    _ request: HTTPRequest, _ items: QueryItems, _ path: ServicePath,
    _ bearer: AccessTokens.Bearer?
  ) async -> HTTPResponse? {
    let isExact = request.head.value(EnvelopeHeader.exact) != nil
    do throws(CloudError) {
      let visit = try visit(request.head, items, path, bearer, isExact: isExact)
      return .json(200, text: try await body(of: request, visit))
    } catch {
      let notation = Notation(
        container: path.container, database: path.database, user: nil, isExact: isExact)
      return failure(error, notation)
    }
  }

  /// What a request fails with that was cancelled because the server stops.
  private static let stopping = CloudError(
    .serviceUnavailable, "the server is stopping: send the request again later", retryAfter: 1)

  /// The answer to a request that failed as a whole; `nil` when it was carried out and then
  /// cancelled, since an error would say that it was not.
  func failure(_ error: CloudError, _ notation: Notation) -> HTTPResponse? {
    guard error != .cancelledAfterCommit else { return nil }
    let error = error == .cancelled ? ServiceRoutes.stopping : error
    var members = JSON.Members()
    members.add("uuid", .string(UUID().uuidString))
    let code = Notation.errorCode(for: error.code)
    if code.code == .notAuthenticated { members.add("redirectURL", .string(signInURL)) }
    var response = HTTPResponse.json(code.status, notation.json(error, of: members))
    if let seconds = error.retryAfter, seconds.isFinite, seconds >= 0, seconds < 1e9 {
      response.fields.append(.init(name: "retry-after", value: "\(Int(seconds.rounded(.up)))"))
    }
    return response
  }

  private var signInURL: String { baseURL + "/console#sign-in" }

  /// Refuses a request that asks for more than the server does at once.
  func checkCount(_ count: Int, _ what: String, _ visit: Visit) throws(CloudError) {
    let most = visit.notation.itemLimit ?? server.limits.itemsPerRequest
    guard count <= most else {
      throw CloudError(.limitExceeded, "at most \(most) \(what) can be asked for at once")
    }
  }

  // MARK: Letting in

  private func finding(_ items: QueryItems, _ path: ServicePath) -> AccessTokens.Finding {
    tokens.finding(api: items["ckAPIToken"], web: webToken(items), container: path.container)
  }

  /// The web token of a request, which old clients call a session.
  ///
  /// One that is there twice or can't be read is none that is good: whoever shows it is told so,
  /// and not taken for somebody who shows none.
  private func webToken(_ items: QueryItems) -> String? {
    let names = ["ckWebAuthToken", "ckSession"]
    switch names.map(items.count).reduce(0, +) {
    case 0: return nil
    case 1: return names.lazy.compactMap { items[$0] }.first ?? "?"
    default: return "?"
    }
  }

  private func refusal(of finding: AccessTokens.Finding, _ path: ServicePath) -> HTTPResponse? {
    switch finding {
    case .person: nil
    case .app:
      needsPerson(path)
        ? .failure(
          421, "AUTHENTICATION_REQUIRED", "no account is signed in", redirect: signInURL) : nil
    case .unknownApp:
      .failure(
        401, "AUTHENTICATION_FAILED",
        "the ckAPIToken is missing or not one of this server's for this container; signatures "
          + "of servers are not taken")
    case .unknownPerson:
      .failure(
        421, "AUTHENTICATION_REQUIRED", "the ckWebAuthToken is not valid here, or not any more",
        redirect: signInURL)
    }
  }

  /// Whether nobody in particular has no business there: with people, with files to bring, and in
  /// all databases but the public one, whose rules decide on the rest.
  ///
  /// Source: web-services 1.2.
  private func needsPerson(_ path: ServicePath) -> Bool {
    switch path.endpoint {
    case .usersCaller, .usersCurrent, .usersDiscover, .usersLookupEmail, .usersLookupID,
      .usersLookupContacts, .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister:
      true
    case .recordsModify, .recordsLookup, .recordsQuery, .recordsChanges, .recordsResolve,
      .recordsAccept, .changesDatabase, .changesZone, .zonesList, .zonesLookup, .zonesModify,
      .zonesChanges, .subscriptionsList, .subscriptionsLookup, .subscriptionsModify:
      path.database != .public
    }
  }

  private func visit(
    _ head: HTTPRequestHead, _ items: QueryItems, _ path: ServicePath,
    _ bearer: AccessTokens.Bearer?, isExact: Bool
  ) throws(CloudError) -> Visit {
    let name = head.value(EnvelopeHeader.device) ?? items["clientId"] ?? "web"
    guard (1...255).contains(name.utf8.count) else {
      throw .malformed("a device's name needs 1 to 255 bytes")
    }
    let device = server.remoteDevice(name, account: bearer?.account)
    var notation = Notation(
      container: path.container, database: path.database,
      user: try bearer.map { (bearer) throws(CloudError) in try server.user(of: bearer.account) },
      isExact: isExact)
    // CloudKit's own limit; between two that know each other the server's holds.
    if !isExact { notation.itemLimit = min(ServiceRoutes.items, server.limits.itemsPerRequest) }
    var visit = Visit(
      path: path, items: items, bearer: bearer, device: device, deviceName: name,
      notation: notation, requestID: head.value(EnvelopeHeader.request) ?? UUID().uuidString,
      expectedUser: head.value(EnvelopeHeader.user).map { UserID($0) })
    let tickets = visit
    notation.downloadURL = { id, key, asset in downloadURL(tickets, id, key, asset) }
    let user = notation.user
    notation.shareURL = { root in
      try? server.shareURL(
        ofRoot: root, container: path.container, environment: path.environment,
        user: user)
    }
    visit.notation = notation
    return visit
  }

  // MARK: Answering

  /// Names for what comes without one: the same ones when a request comes again under its ID.
  private func names(_ visit: Visit) -> () -> String {
    var count = 0
    return {
      defer { count += 1 }
      let account = visit.bearer?.account ?? ""
      let digits = tokens.seal.digits(
        for: "\(count) of \(visit.requestID) of \(visit.deviceName) of \(account)"
      ).uppercased()
      return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
        String(digits.dropFirst(range.lowerBound).prefix(range.count))
      }.joined(separator: "-")
    }
  }

  private func body(of request: HTTPRequest, _ visit: Visit) async throws(CloudError) -> [UInt8] {
    let text = request.body
    switch visit.path.endpoint {
    case .assetsUpload: return try uploadTickets(Exchange.body(text), visit).bytes
    case .assetsRereference: return try await rereference(Exchange.body(text), visit).bytes
    case .tokensCreate: return try courierTicket(Exchange.body(text), visit).bytes
    case .tokensRegister:
      _ = try Exchange.body(text)
      return JSON.object(JSON.Members()).bytes
    default: break
    }
    let exchange = try Exchange(
      visit.path, text: text, notation: visit.notation,
      wantsToken: visit.items["getCurrentSyncToken"] == "true", newName: names(visit))
    guard let exchange else { throw .malformed("there is no such endpoint") }
    var outcomes: [Exchange.Outcome] = []
    for (index, request) in exchange.requests.enumerated() {
      let call = visit.call(request, index == 0 ? "" : "/\(index)")
      do throws(CloudError) { outcomes.append(.success(try await visit.device.send(call))) } catch {
        // What is done must not be told as an error of its item.
        guard error != .cancelledAfterCommit else { throw error }
        outcomes.append(.failure(error))
      }
    }
    return try exchange.text(outcomes)
  }
}

/// Remembers what paths mean: there are few, and each request needs it twice.
private final class KnownPaths: Sendable {
  /// How many are remembered; then it begins anew.
  private static let most = 256

  private let paths = Mutex<[String: ServicePath]>([:])

  func path(_ text: String) -> ServicePath? {
    if let path = paths.withLock({ $0[text] }) { return path }
    guard let path = ServicePath(text) else { return nil }
    paths.withLock { paths in
      if paths.count >= KnownPaths.most { paths = [:] }
      paths[text] = path
    }
    return path
  }
}

extension HTTPResponse {
  /// An answer of JSON.
  static func json(_ status: Int, _ body: JSON) -> HTTPResponse {
    .json(status, text: body.bytes)
  }

  /// An answer of JSON that is written already.
  static func json(_ status: Int, text: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      status,
      fields: [
        .init(name: "content-type", value: "application/json; charset=UTF-8"),
        .init(name: "cache-control", value: "no-store"),
        .init(name: "x-content-type-options", value: "nosniff"),
      ], body: text)
  }

  /// An error of a request as a whole.
  static func failure(
    _ status: Int, _ code: String, _ reason: String, redirect: String? = nil
  ) -> HTTPResponse {
    .json(
      status,
      .members([
        "uuid": .string(UUID().uuidString), "serverErrorCode": .string(code),
        "reason": .string(reason), "redirectURL": redirect.map { .string($0) },
      ]))
  }

  /// The answer to a method that is not taken here.
  static func wrongMethod(_ methods: [String]) -> HTTPResponse {
    var response = failure(405, "BAD_REQUEST", "this takes \(methods.joined(separator: ", ")) only")
    response.fields.append(.init(name: "allow", value: methods.joined(separator: ", ")))
    return response
  }
}
