import CloudProtocol
import LoopbackHTTP
import LoopbackServer

/// The control interface of a server in a file, in this process.
struct FileControl: ControlInterface {
  let server: LoopbackServer
  private let routes: ControlRoutes
  private static let token = "this process"

  /// Creates the interface of a server.
  init(_ server: LoopbackServer) {
    self.server = server
    routes = ControlRoutes(
      server: server, token: FileControl.token, allowsFaults: false,
      signIn: { _ throws(CloudError) in
        throw CloudError(.serverRejectedRequest, "tokens are issued by a running server")
      }, clock: ContinuousClock())
  }

  /// Checks the body of a request that changes faults, without a server.
  static func checkFault(_ body: [UInt8]) throws(CloudError) {
    let control = FileControl(LoopbackServer())
    defer { control.close() }
    try control.routes.checkFault(body)
  }

  func send(_ request: ControlRequest) async throws -> [UInt8] {
    let target = request.target
    let head = HTTPRequestHead(
      method: request.body == nil ? "GET" : "POST", path: target.path, query: target.query,
      minorVersion: 1,
      fields: [
        .init(name: "authorization", value: "Bearer \(FileControl.token)"),
        .init(name: "content-type", value: request.bodyType),
      ])
    let response = await routes.answer(HTTPRequest(head: head, body: request.body ?? []))
    guard response.status == 200 else { throw refusal(request, response.status, response.body) }
    return response.body
  }

  func close() { server.close() }
}
