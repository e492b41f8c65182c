import CloudProtocol
import LoopbackServer
import Records
import Synchronization

/// Where every request comes in: who may, and which routes answer.
///
/// The port is known only after the server listens; until the routes are there nobody is let in.
final class Door: Sendable {
  fileprivate struct Inside: Sendable {
    var routes: ServiceRoutes
    var policy: HostPolicy
    var control: ControlRoutes
    /// Pages that may use the service have no business with the server's control.
    var controlPolicy: HostPolicy
  }

  private let inside = Mutex<Inside?>(nil)
  private let options: LoopbackWebServer.Options

  init(_ options: LoopbackWebServer.Options) { self.options = options }

  func open(_ routes: ServiceRoutes, _ control: ControlRoutes, port: Int) {
    let inside = Inside(
      routes: routes, policy: HostPolicy(port: port, origins: options.allowedOrigins),
      control: control, controlPolicy: HostPolicy(port: port))
    self.inside.withLock { $0 = inside }
  }

  func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    guard let inside = inside.withLock({ $0 }) else {
      return .refuse(.failure(503, "TRY_AGAIN_LATER", "the server is starting"))
    }
    let isControl = inside.control.has(head.path)
    let policy = isControl ? inside.controlPolicy : inside.policy
    if let refusal = policy.refusal(of: head) { return .refuse(HTTPResponse(refusal)) }
    var admission: HTTPAdmission =
      if !head.hasKnownMethod {
        .refuse(HTTPResponse(HTTPRefusal(501, "this server knows no method of this name")))
      } else if isControl {
        inside.control.admission(head)
      } else {
        inside.admission(head)
      }
    if case .accept = admission, head.hasCodedBody { admission = .refuse(.codedBody) }
    guard case .refuse(var refusal) = admission else { return admission }
    // A page that is let in has to read where to sign in, and what else is wrong.
    refusal.fields += policy.fields(for: head)
    return .refuse(refusal)
  }

  /// What lets a page that is let in read why the server refused its request before any route.
  func refusalFields(_ head: HTTPRequestHead) -> [HTTPRequestHead.Field] {
    guard let inside = inside.withLock({ $0 }), !inside.control.has(head.path) else { return [] }
    return inside.policy.fields(for: head)
  }

  /// The answer to a request that was let in; `nil` when it is lost.
  func answer(_ request: HTTPRequest) async -> HTTPResponse? {
    guard let inside = inside.withLock({ $0 }) else {
      return .failure(503, "TRY_AGAIN_LATER", "the server is starting")
    }
    if inside.control.has(request.head.path) { return await inside.control.answer(request) }
    var response =
      request.head.method == "OPTIONS"
      ? inside.policy.preflight(request.head, methods: inside.methods(of: request.head.path))
      : await inside.routes.answer(request)
    response?.fields += inside.policy.fields(for: request.head)
    return response
  }
}

extension Door.Inside {
  /// The methods that a path of the service takes, or the server for `*`; `nil` when there is
  /// nothing.
  fileprivate func methods(of path: String) -> [String]? {
    path == "*" ? HostPolicy.methods : routes.methods(of: path)
  }

  /// Whether a request to the service is let in, by its head.
  fileprivate func admission(_ head: HTTPRequestHead) -> HTTPAdmission {
    // A page may ask about a path that is not there, and learns it by its request.
    if head.method == "OPTIONS", !policy.fields(for: head).isEmpty || methods(of: head.path) != nil
    {
      return .accept(bodyBytes: 0)
    }
    return routes.admission(head) ?? .refuse(.failure(404, "NOT_FOUND", "there is nothing here"))
  }
}

extension HTTPResponse {
  /// The answer to a body that is coded.
  ///
  /// Source: RFC 9110, section 15.5.16.
  fileprivate static var codedBody: HTTPResponse {
    var response = HTTPResponse(HTTPRefusal(415, "the body must come without a content coding"))
    response.fields.append(.init(name: "accept-encoding", value: "identity"))
    return response
  }
}
