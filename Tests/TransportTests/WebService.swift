import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import Synchronization

@testable import LoopbackServer

/// A server that is asked over HTTP; what an administrator does, and what pushes came, is seen in
/// this process.
final class WebService: TestedService {
  private let inside: LoopbackService
  private let web: LoopbackWebServer
  private let transports = Mutex<[String: WebServicesTransport]>([:])

  init(_ server: LoopbackServer, cleanUp: @escaping @Sendable () -> Void = {}) throws {
    web = try LoopbackWebServer(server)
    inside = LoopbackService(
      server,
      devices: listeners.map { server.remoteDevice($0.device, account: $0.account) },
      cleanUp: cleanUp)
  }

  func send(_ call: CloudCall, from device: String, of account: String?) async
    -> Result<CloudReply, CloudError>
  {
    do {
      return .success(try await transport(device, account).send(call))
    } catch {
      return .failure(error)
    }
  }

  private func transport(
    _ device: String, _ account: String?
  ) throws(CloudError) -> WebServicesTransport {
    let key = "\(device) of \(account ?? "nobody")"
    if let transport = transports.withLock({ $0[key] }) { return transport }
    let made = WebServicesTransport(
      url: URL(string: web.url), apiToken: web.apiToken(),
      webAuthToken: try account.map { (name) throws(CloudError) in
        try web.webAuthToken(for: name)
      }, device: device)
    return transports.withLock { transports in
      if let earlier = transports[key] { return earlier }
      transports[key] = made
      return made
    }
  }

  func takePushes() -> [String] { inside.takePushes() }

  func administer(_ act: Act, of account: String) throws {
    try inside.administer(act, of: account)
  }

  func close() async -> [String] {
    transports.withLock { $0 = [:] }
    await web.stop()
    return await inside.close()
  }
}
