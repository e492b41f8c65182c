import CloudProtocol
import LoopbackHTTP
import LoopbackServer

/// The control interface of a server in a file, asked in this process.
struct FileControl: ControlInterface {
  let server: LoopbackServer
  private let routes: ControlRoutes
  private static let token = "this process"

  /// Puts the interface before a server.
  init(_ server: LoopbackServer) {
    self.server = server
    routes = ControlRoutes(
      server: server, token: FileControl.token, allowsFaults: false,
      signIn: { _ throws(CloudError) in
        throw CloudError(.serverRejectedRequest, "tokens are given by a server that runs")
      }, clock: ContinuousClock())
  }

  func ask(_ question: ControlQuestion) async throws -> [UInt8] {
    let target = question.target
    let head = HTTPRequestHead(
      method: question.body == nil ? "GET" : "POST", path: target.path, query: target.query,
      minorVersion: 1,
      fields: [
        .init(name: "authorization", value: "Bearer \(FileControl.token)"),
        .init(name: "content-type", value: question.bodyType),
      ])
    let response = await routes.answer(HTTPRequest(head: head, body: question.body ?? []))
    guard response.status == 200 else { throw refusal(response.status, response.body) }
    return response.body
  }

  func close() { server.close() }
}
