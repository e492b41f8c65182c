import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import WebServices

/// The routes of CloudKit Web Services: `/database/…`, `/device/…`, and the signed paths that they
/// issue.
struct ServiceRoutes: Sendable {
  /// The maximum size of a JSON body that saves records.
  ///
  /// The limit of a request applies to the decoded records; their JSON may take several times as
  /// many bytes.
  static let savingBytes = 24 << 20
  /// The maximum size of any other body: enough for two hundred items.
  static let askingBytes = 2 << 20

  /// The maximum number of items in a request of a foreign client.
  ///
  /// Rules: WS-87 and WS-88.
  static let items = 200

  /// The maximum number of bytes of a request's ID, and of a name.
  static let nameBytes = 255

  /// The number of bytes of changed records in a response after which each further zone gives no
  /// record, with `moreComing` if it has changes.
  static let changesBytes = 8 << 20

  /// The query items that hold a web token.
  static let webTokenItems = ["ckWebAuthToken", "ckSession"]

  let server: LoopbackServer
  let tokens: AccessTokens
  let courier: WebCourier
  private let signatures: RequestSignatures
  /// The URL by which clients reach the server, for the URLs in a response.
  var baseURL: String
  /// The parsed paths: there are few, and each request needs the result twice.
  private let paths = BoundedCache<ServicePath>(most: 256)

  init(server: LoopbackServer, tokens: AccessTokens, courier: WebCourier, baseURL: String) {
    self.server = server
    self.tokens = tokens
    self.courier = courier
    signatures = RequestSignatures(keys: ServerKeys(server: server), clock: tokens.clock)
    self.baseURL = baseURL
  }

  /// The context of an authenticated request.
  struct ServiceContext: Sendable {
    var path: ServicePath
    var items: QueryItems
    var bearer: AccessTokens.Bearer?
    var device: LoopbackDevice
    var deviceName: String
    /// Whether the client gave its device a name.
    var isDeviceNamed: Bool
    var notation: Notation
    var requestID: String
    /// Whether the client chose the request ID.
    var choseRequestID: Bool
    var expectedUser: UserID?

    func call(_ request: CloudRequest, _ suffix: String = "") -> CloudCall {
      CloudCall(
        container: path.container, environment: path.environment, database: path.database,
        expectedUser: expectedUser, requestID: partID(suffix), request: request)
    }

    /// The ID of a part of the request: that of the request, or its digest if the ID of the part
    /// would be too long, and the suffix.
    func partID(_ suffix: String) -> String {
      let id = requestID + suffix
      return id.utf8.count <= ServiceRoutes.nameBytes
        ? id : SHA256.hexadecimal(of: Array(requestID.utf8)) + suffix
    }
  }

  /// Accepts or rejects a request by its head; `nil` when the path belongs to other routes.
  func admission(_ head: HTTPRequestHead) -> HTTPAdmission? {
    if let signedPath = SignedPath(path: head.path, signer: tokens.signer) {
      guard signedPath.methods.contains(head.method) else {
        return .refuse(.wrongMethod(signedPath.methods))
      }
      if signedPath.isUpload, !head.values("content-range").isEmpty {
        // Source: RFC 9110, section 14.5.
        return .refuse(
          HTTPResponse(HTTPRefusal(400, "partial uploads are not supported: send the whole file")))
      }
      if signedPath.isUpload, let type = head.value("content-type"),
        type.asciiLowercased.hasPrefix("multipart/")
      {
        let kind = type.prefix { $0 != ";" }.prefix(64)
        return .refuse(
          HTTPResponse(
            HTTPRefusal(
              415,
              "the body must be the file's bytes, not \(kind): send the file "
                + "itself, as with curl --data-binary @FILE")))
      }
      if let refusal = refusal(of: signedPath, head) { return .refuse(refusal) }
      return signedPath.isUpload
        ? .acceptFile(bytes: server.limits.assetBytes) : .accept(bodyBytes: 0)
    }
    if SignedPath.hasPrefix(head.path) {
      return .refuse(
        .failure(
          404, "NOT_FOUND",
          "the URL is not valid or has expired: it was not issued by this server, or it was "
            + "changed; request a new one"))
    }
    guard head.path.hasPrefix("/database/") || head.path.hasPrefix("/device/") else { return nil }
    guard let path = servicePath(head.path) else {
      return .refuse(.failure(404, "NOT_FOUND", "no such endpoint"))
    }
    let methods = ServiceRoutes.methods(of: path)
    guard methods.contains(head.method) else { return .refuse(.wrongMethod(methods)) }
    let bodyBytes =
      path.endpoint == .recordsModify ? ServiceRoutes.savingBytes : ServiceRoutes.askingBytes
    if RequestSignatures.isSigned(head) { return signedAdmission(head, path, bodyBytes) }
    if let refusal = refusal(of: finding(QueryItems(head.query), path), path) {
      return .refuse(refusal)
    }
    return .accept(bodyBytes: bodyBytes)
  }

  /// Accepts or rejects a signed request by its head; without a known key, no body is read.
  private func signedAdmission(
    _ head: HTTPRequestHead, _ path: ServicePath, _ bodyBytes: Int
  ) -> HTTPAdmission {
    do throws(CloudError) { try signatures.check(head, path) } catch {
      return .refuse(.badSignature(error))
    }
    guard head.framing != .length(0) else { return .accept(bodyBytes: 0) }
    return .acceptAfter(
      check: {
        do throws(CloudError) { try signatures.checkKey(of: head, path) } catch {
          return .badSignature(error)
        }
        return nil
      }, bodyBytes: bodyBytes)
  }

  private func servicePath(_ text: String) -> ServicePath? {
    paths.value(text) { ServicePath(text) }
  }

  /// The methods of `path`; `nil` for an unknown path.
  func methods(of path: String) -> [String]? {
    SignedPath(path: path, signer: tokens.signer)?.methods
      ?? servicePath(path).map(ServiceRoutes.methods)
  }

  /// Whether a path is a valid one for the download of a file.
  func isDownload(_ path: String) -> Bool {
    if case .download = SignedPath(path: path, signer: tokens.signer) { true } else { false }
  }

  /// The name of a path's endpoint, or the kind of a signed path; `nil` for an unknown path.
  func operation(of path: String) -> String? {
    switch SignedPath(path: path, signer: tokens.signer) {
    case .courier: "courier"
    case .upload: "assets/content/upload"
    case .download: "assets/content/download"
    case nil: servicePath(path)?.endpoint.rawValue
    }
  }

  private static func methods(of path: ServicePath) -> [String] {
    path.endpoint.takesGet ? ["GET", "HEAD", "POST", "OPTIONS"] : ["POST", "OPTIONS"]
  }

  /// The response to an accepted request; `nil` when the request was carried out and a fault drops
  /// the response.
  func answer(_ request: HTTPRequest) async -> HTTPResponse? {
    if let signedPath = SignedPath(path: request.head.path, signer: tokens.signer) {
      return await answer(signedPath, request)
    }
    guard let path = servicePath(request.head.path) else {
      return .failure(404, "NOT_FOUND", "no such endpoint")
    }
    let items = QueryItems(request.head.query)
    if RequestSignatures.isSigned(request.head) { return await answerSigned(request, items, path) }
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

  /// The response to a request that a program signed; its key's account makes the changes.
  private func answerSigned(
    _ request: HTTPRequest, _ items: QueryItems, _ path: ServicePath
  ) async -> HTTPResponse? {
    do throws(CloudError) {
      let account = try signatures.account(of: request.head, path, body: request.body)
      let bearer = AccessTokens.Bearer(account: account, container: nil, issued: tokens.clock())
      return await answer(request, items, path, bearer)
    } catch {
      return .badSignature(error)
    }
  }

  private func answer(
    _ request: HTTPRequest, _ items: QueryItems, _ path: ServicePath,
    _ bearer: AccessTokens.Bearer?
  ) async -> HTTPResponse? {
    let isExact = request.head.value(EnvelopeHeader.exact) != nil
    do throws(CloudError) {
      let context = try context(request.head, items, path, bearer, isExact: isExact)
      return .json(200, text: try await body(of: request, context))
    } catch {
      let notation = Notation(
        container: path.container, database: path.database, user: nil, isExact: isExact)
      return failure(error, notation)
    }
  }

  /// The error of a request that was cancelled because the server stops.
  private static let stopping = CloudError(
    .serviceUnavailable, "the server is stopping: send the request again later", retryAfter: 1)

  /// The response to a request that failed as a whole; `nil` when it was carried out and then
  /// cancelled, since an error would claim that it was not.
  func failure(_ error: CloudError, _ notation: Notation) -> HTTPResponse? {
    guard error != .cancelledAfterCommit else { return nil }
    let error = error == .cancelled ? ServiceRoutes.stopping : error
    var members = JSON.Members()
    members.add("uuid", .string(UUID().uuidString))
    let code = Notation.errorCode(for: error.code)
    if code.code == .notAuthenticated {
      members.add("redirectURL", .string(signInURL(notation.container)))
    }
    var response = HTTPResponse.json(code.status, notation.json(error, of: members))
    if let seconds = error.retryAfter, seconds.isFinite, seconds >= 0, seconds < 1e9 {
      response.fields.append(.init(name: "retry-after", value: "\(Int(seconds.rounded(.up)))"))
    }
    return response
  }

  /// The URL of the page at which a user signs in.
  private func signInURL(_ container: String) -> String {
    SignInRoutes.url(baseURL, container: container, tokens)
  }

  /// Rejects a request with more items than the server allows.
  func checkCount(_ count: Int, _ what: String, _ context: ServiceContext) throws(CloudError) {
    let most = context.notation.itemLimit ?? server.limits.itemsPerRequest
    guard count <= most else {
      throw CloudError(.limitExceeded, "at most \(most) \(what) are allowed in one request")
    }
  }

  // MARK: Admission

  private func finding(_ items: QueryItems, _ path: ServicePath) -> AccessTokens.Authentication {
    tokens.finding(api: items["ckAPIToken"], web: webToken(items), container: path.container)
  }

  /// The web token of a request; older clients send it as a session token.
  ///
  /// A duplicate or unreadable token is reported as invalid, not treated as missing.
  private func webToken(_ items: QueryItems) -> String? {
    switch ServiceRoutes.webTokenItems.map(items.count).reduce(0, +) {
    case 0: return nil
    case 1: return ServiceRoutes.webTokenItems.lazy.compactMap { items[$0] }.first ?? "?"
    default: return "?"
    }
  }

  private func refusal(of finding: AccessTokens.Authentication, _ path: ServicePath)
    -> HTTPResponse?
  {
    switch finding {
    case .person: nil
    case .app:
      requiresAccount(path)
        ? .failure(
          421, "AUTHENTICATION_REQUIRED", "no account is signed in",
          redirect: signInURL(path.container)) : nil
    case .invalidAPIToken:
      .failure(
        401, "AUTHENTICATION_FAILED",
        "the ckAPIToken is missing or not valid for this container")
    case .invalidWebToken:
      .failure(
        421, "AUTHENTICATION_REQUIRED", "the ckWebAuthToken is invalid or has expired",
        redirect: signInURL(path.container))
    }
  }

  /// Whether the path requires an account: users, uploads, and every database except the public
  /// one, whose permissions decide about anonymous requests.
  ///
  /// Rules: WS-8 to WS-13.
  private func requiresAccount(_ path: ServicePath) -> Bool {
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

  private func context(
    _ head: HTTPRequestHead, _ items: QueryItems, _ path: ServicePath,
    _ bearer: AccessTokens.Bearer?, isExact: Bool
  ) throws(CloudError) -> ServiceContext {
    let given = head.value(EnvelopeHeader.device) ?? items["clientId"]
    let name = given ?? "web"
    guard (1...ServiceRoutes.nameBytes).contains(name.utf8.count) else {
      throw .malformed("a device's name needs 1 to 255 bytes")
    }
    let device = server.remoteDevice(name, account: bearer?.account)
    var notation = Notation(
      container: path.container, database: path.database,
      user: try bearer.map { (bearer) throws(CloudError) in try server.user(of: bearer.account) },
      isExact: isExact)
    // CloudKit's limit; for this package's client, the server's limit applies.
    if !isExact { notation.itemLimit = min(ServiceRoutes.items, server.limits.itemsPerRequest) }
    let requestID = head.value(EnvelopeHeader.request)
    guard requestID.map({ (1...ServiceRoutes.nameBytes).contains($0.utf8.count) }) ?? true else {
      throw .malformed("a request's ID needs 1 to 255 bytes")
    }
    var context = ServiceContext(
      path: path, items: items, bearer: bearer, device: device, deviceName: name,
      isDeviceNamed: given != nil, notation: notation,
      requestID: requestID ?? UUID().uuidString, choseRequestID: requestID != nil,
      expectedUser: head.value(EnvelopeHeader.user).map { UserID($0) })
    let tickets = context
    notation.downloadURL = { id, key, asset in downloadURL(tickets, id, key, asset) }
    let user = notation.user
    notation.shareURL = { root in
      try? server.shareURL(
        ofRoot: root, container: path.container, environment: path.environment,
        user: user)
    }
    context.notation = notation
    return context
  }

  // MARK: Answering

  /// Generates names for items without a name: the same names when the request is repeated with the
  /// same ID.
  private func names(_ context: ServiceContext) -> () -> String {
    var count = 0
    return {
      defer { count += 1 }
      let account = context.bearer?.account ?? ""
      let digits = tokens.signer.digest(
        for: "\(count) of \(context.requestID) of \(context.deviceName) of \(account)"
      ).uppercased()
      return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
        String(digits.dropFirst(range.lowerBound).prefix(range.count))
      }.joined(separator: "-")
    }
  }

  private func body(of request: HTTPRequest, _ context: ServiceContext) async throws(CloudError)
    -> [UInt8]
  {
    let text = request.body
    switch context.path.endpoint {
    case .assetsUpload: return try uploadURLs(ServerRequest.body(text), context).bytes
    case .assetsRereference: return try await rereference(ServerRequest.body(text), context).bytes
    case .tokensCreate: return try createToken(ServerRequest.body(text), context).bytes
    case .tokensRegister: return try registerToken(ServerRequest.body(text)).bytes
    default: break
    }
    let serverRequest = try ServerRequest(
      context.path, text: text, notation: context.notation,
      wantsToken: context.items["getCurrentSyncToken"] == "true", newName: names(context))
    guard let serverRequest else { throw .malformed("no such endpoint") }
    var outcomes: [ServerRequest.Outcome] = []
    var body: [UInt8]?
    var changesBytes = 0
    let isSingle = serverRequest.requests.count == 1 && !serverRequest.mayContinue
    while var request = serverRequest.nextRequest(after: outcomes) {
      if changesBytes >= ServiceRoutes.changesBytes, case .fetchZoneChanges(var fetch) = request {
        fetch.limit = 1
        fetch.recordBytes = 0
        request = .fetchZoneChanges(fetch)
      }
      let call = context.call(request, outcomes.isEmpty ? "" : "/\(outcomes.count)")
      do throws(CloudError) {
        let (reply, early) = try await context.device.send(
          call, choseRequestID: context.choseRequestID
        ) { reply in
          isSingle ? try? serverRequest.text([.success(reply)]) : nil
        }
        body = early
        outcomes.append(.success(reply))
        if case .zoneChanges(let page) = reply {
          changesBytes += page.modified.reduce(0) { $0 + $1.byteCount }
        }
      } catch {
        // A committed change must not be reported as an error of its item.
        guard error != .cancelledAfterCommit else { throw error }
        // Of a cancelled read no part is an answer, unless it follows a change.
        if error == .cancelled, !serverRequest.requests.contains(where: \.isMutation) {
          throw error
        }
        outcomes.append(.failure(error))
      }
    }
    if let body { return body }
    return try serverRequest.text(outcomes)
  }
}

extension HTTPResponse {
  /// A JSON response.
  static func json(_ status: Int, _ body: JSON) -> HTTPResponse {
    .json(status, text: body.bytes)
  }

  /// A JSON response with an encoded body.
  static func json(_ status: Int, text: [UInt8]) -> HTTPResponse {
    HTTPResponse(status, type: "application/json; charset=UTF-8", body: text)
  }

  /// The error response of a request as a whole.
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

  /// The response to a signed request that is not accepted.
  fileprivate static func badSignature(_ error: CloudError) -> HTTPResponse {
    failure(401, "AUTHENTICATION_FAILED", error.message)
  }

  /// The response to a method that the path does not allow.
  static func wrongMethod(_ methods: [String]) -> HTTPResponse {
    var response = failure(
      405, "BAD_REQUEST", "this endpoint takes \(methods.joined(separator: ", ")) only")
    response.fields.append(.init(name: "allow", value: methods.joined(separator: ", ")))
    return response
  }
}
