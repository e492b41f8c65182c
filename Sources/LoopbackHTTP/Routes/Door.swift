import CloudProtocol
import LoopbackServer
import Records
import Synchronization

/// Where every request comes in: who may, and which routes answer.
///
/// The port is known only after the server listens; until the routes are there nobody is let in.
final class Door: Sendable {
  private struct Inside: Sendable {
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
    if inside.control.has(head.path) {
      if let refusal = inside.controlPolicy.refusal(of: head) {
        return .refuse(HTTPResponse(refusal))
      }
      return inside.control.admission(head)
    }
    if let refusal = inside.policy.refusal(of: head) { return .refuse(HTTPResponse(refusal)) }
    if head.method == "OPTIONS" { return .accept(bodyBytes: 0) }
    let admission =
      inside.routes.admission(head)
      ?? .refuse(.failure(404, "NOT_FOUND", "there is nothing here"))
    guard case .refuse(var refusal) = admission else { return admission }
    // A page that is let in has to read where to sign in.
    refusal.fields += inside.policy.fields(for: head)
    return .refuse(refusal)
  }

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard let inside = inside.withLock({ $0 }) else {
      return .failure(503, "TRY_AGAIN_LATER", "the server is starting")
    }
    if inside.control.has(request.head.path) { return await inside.control.answer(request) }
    var response =
      request.head.method == "OPTIONS"
      ? inside.policy.preflight(request.head) : await inside.routes.answer(request)
    response.fields += inside.policy.fields(for: request.head)
    return response
  }
}
