import CloudProtocol
import LoopbackServer
import Records
import Synchronization

/// Routes every request: applies the host policy, then calls the control or service routes.
///
/// The port is known only after the server listens; until `open` sets the routes, every request
/// gets 503.
final class RequestRouter: Sendable {
  fileprivate struct Routing: Sendable {
    var routes: ServiceRoutes
    var policy: HostPolicy
    var control: ControlRoutes
    var signIn: SignInRoutes
    /// Pages of allowed origins may use the service, but not the control interface.
    var controlPolicy: HostPolicy
    /// The URL of all responses; `nil` for that by which a request reached the server.
    var publicURL: String?

    /// The routes, with the URL for the response to a request.
    func routes(for head: HTTPRequestHead) -> ServiceRoutes {
      var routes = routes
      routes.baseURL = publicURL ?? policy.baseURL(of: head, own: routes.baseURL)
      return routes
    }
  }

  private let routing = Mutex<Routing?>(nil)
  private let options: LoopbackWebServer.Options
  private let metrics: ServerMetrics
  private let clock: HTTPServerClock

  init(_ options: LoopbackWebServer.Options, _ metrics: ServerMetrics, _ clock: any Clock<Duration>)
  {
    self.options = options
    self.metrics = metrics
    self.clock = HTTPServerClock(clock)
  }

  func open(
    _ routes: ServiceRoutes, _ control: ControlRoutes, controlToken: String, port: Int
  ) {
    let publicURL = options.publicURL.flatMap { WebOrigin($0) }
    let policy = HostPolicy(
      port: port, origins: options.allowedOrigins,
      hosts: options.allowedHosts + [publicURL?.authority, options.ownName].compactMap(\.self),
      proxiedHost: publicURL?.host, acceptsAddresses: !options.isLoopback)
    var controlPolicy = policy
    controlPolicy.origins = []
    let isLocal = options.isLoopback && publicURL == nil && options.allowedHosts.isEmpty
    let signIn = SignInRoutes(
      server: routes.server, tokens: routes.tokens, origins: policy.origins,
      controlToken: isLocal ? nil : controlToken)
    let routing = Routing(
      routes: routes, policy: policy, control: control, signIn: signIn,
      controlPolicy: controlPolicy, publicURL: publicURL?.text)
    self.routing.withLock { $0 = routing }
  }

  func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    let admission = decide(head)
    if case .refuse(let response) = admission { note(response, refusing: head) }
    return admission
  }

  private func decide(_ head: HTTPRequestHead) -> HTTPAdmission {
    guard let routing = routing.withLock({ $0 }) else {
      return .refuse(.failure(503, "TRY_AGAIN_LATER", "the server is starting"))
    }
    let area = routing.area(of: head.path)
    let policy = area == .service ? routing.policy : routing.controlPolicy
    let isPage = area == .signIn || ConsolePage.paths.contains(head.path)
    let isFile = area == .service && routing.routes.isDownload(head.path)
    if let refusal = policy.refusal(of: head, isPage: isPage, isFile: isFile) {
      return .refuse(HTTPResponse(refusal))
    }
    var admission: HTTPAdmission =
      if !head.hasKnownMethod {
        .refuse(HTTPResponse(HTTPRefusal(501, "the method is unknown")))
      } else {
        switch area {
        case .control: routing.control.admission(head)
        case .signIn: SignInRoutes.admission(head)
        case .service: routing.admission(head)
        }
      }
    if head.hasCodedBody {
      switch admission {
      case .accept, .acceptFile, .acceptAfter: admission = .refuse(.codedBody)
      case .refuse: break
      }
    }
    // A page of an allowed origin must be able to read the sign-in URL and the error.
    let fields = policy.fields(for: head)
    switch admission {
    case .accept, .acceptFile: return admission
    case .acceptAfter(let check, let bodyBytes):
      let laterCheck: @Sendable () async -> HTTPResponse? = {
        guard var refusal = await check() else { return nil }
        refusal.fields += fields
        self.note(refusal, refusing: head)
        return refusal
      }
      return .acceptAfter(check: laterCheck, bodyBytes: bodyBytes)
    case .refuse(var refusal):
      refusal.fields += fields
      return .refuse(refusal)
    }
  }

  /// Counts and logs what the HTTP server itself refused.
  ///
  /// - Returns: the CORS fields that let a page of an allowed origin read the error.
  func noteRefusal(
    _ head: HTTPRequestHead?, _ response: HTTPResponse
  ) -> [HTTPRequestHead.Field] {
    note(response, refusing: head)
    guard let head, let routing = routing.withLock({ $0 }),
      routing.area(of: head.path) == .service
    else { return [] }
    return routing.policy.fields(for: head)
  }

  private func note(_ response: HTTPResponse, refusing head: HTTPRequestHead?) {
    let routing = routing.withLock { $0 }
    let operation = head.flatMap { routing?.operation(of: $0.path) } ?? "other"
    metrics.noteRefusal(operation, response.status)
    log(head, operation, response.status, .zero, 0, response.bodyCount)
  }

  /// The response to an accepted request; `nil` when a fault drops the response.
  func answer(_ request: HTTPRequest) async -> HTTPResponse? {
    guard let routing = routing.withLock({ $0 }) else {
      return .failure(503, "TRY_AGAIN_LATER", "the server is starting")
    }
    let start = clock.elapsed()
    let response = await answer(request, routing)
    let (operation, time) = (routing.operation(of: request.head.path), clock.elapsed() - start)
    let (status, received, sent) = (
      response?.status ?? 0, request.bodyCount, response?.bodyCount ?? 0
    )
    metrics.note(operation, status, time, received: received, sent: sent)
    log(request.head, operation, status, time, received, sent)
    return response
  }

  private func log(
    _ head: HTTPRequestHead?, _ operation: String, _ status: Int, _ duration: Duration,
    _ received: Int, _ sent: Int
  ) {
    options.requestLog?(
      LoopbackWebServer.LoggedRequest(
        method: head.flatMap { $0.hasKnownMethod ? $0.method : nil } ?? "other",
        operation: operation, status: status, duration: duration, received: received, sent: sent))
  }

  private func answer(_ request: HTTPRequest, _ routing: Routing) async -> HTTPResponse? {
    switch routing.area(of: request.head.path) {
    case .control: return await routing.control.answer(request)
    case .signIn: return routing.signIn.answer(request)
    case .service:
      var response =
        request.head.method == "OPTIONS"
        ? routing.policy.preflight(request.head, methods: routing.methods(of: request.head.path))
        : await routing.routes(for: request.head).answer(request)
      response?.fields += routing.policy.fields(for: request.head)
      return response
    }
  }
}

extension RequestRouter.Routing {
  /// A part of the server, whose routes handle its paths.
  fileprivate enum Area {
    case control
    case signIn
    /// CloudKit Web Services, and every unknown path.
    case service
  }

  fileprivate func area(of path: String) -> Area {
    if control.has(path) { return .control }
    return path == SignInRoutes.path ? .signIn : .service
  }

  /// The methods of a service path, or of the whole server for `*`; `nil` for an unknown path.
  fileprivate func methods(of path: String) -> [String]? {
    path == "*" ? HostPolicy.methods : routes.methods(of: path)
  }

  /// The name of a path's operation in the metrics.
  fileprivate func operation(of path: String) -> String {
    switch area(of: path) {
    case .control: ControlEndpoint(path: path).map { "control/\($0.rawValue)" } ?? "page"
    case .signIn: "sign-in"
    case .service: routes.operation(of: path) ?? "other"
    }
  }

  /// Accepts or rejects a request to the service by its head.
  fileprivate func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    // A preflight for an unknown path is accepted; the actual request then gets 404.
    if head.method == "OPTIONS", !policy.fields(for: head).isEmpty || methods(of: head.path) != nil
    {
      return .accept(bodyBytes: 0)
    }
    return routes(for: head).admission(head)
      ?? .refuse(.failure(404, "NOT_FOUND", "no endpoint at this path"))
  }
}

extension HTTPResponse {
  /// The response to a body with a content coding.
  ///
  /// Source: RFC 9110, section 15.5.16.
  fileprivate static var codedBody: HTTPResponse {
    var response = HTTPResponse(HTTPRefusal(415, "content codings are not supported"))
    response.fields.append(.init(name: "accept-encoding", value: "identity"))
    return response
  }
}
