import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Synchronization
import Testing

/// A server over HTTP that can go away and come back at the same address, and its devices.
final class WebWorld: Sendable {
  let server: LoopbackServer
  let folder: URL
  private let web: Mutex<LoopbackWebServer?>
  private let port: Int
  let url: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "web-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    server = try LoopbackServer(path: folder.appendingPathComponent("cloud.db").path)
    let first = try LoopbackWebServer(server)
    port = first.port
    url = try #require(URL(string: first.url))
    web = Mutex(first)
  }

  /// Stops listening; the port stays known.
  func goAway() async {
    await web.withLock { web in
      defer { web = nil }; return web
    }?.stop()
  }

  /// Listens again at the same address.
  func comeBack() throws {
    let next = try LoopbackWebServer(server, options: .init(port: port))
    web.withLock { $0 = next }
  }

  /// A way to the server for a device of `account`, or of nobody.
  ///
  /// - Parameter understandsExtras: Whether the two know each other; otherwise they talk as with
  ///   Apple's service.
  func transport(
    _ device: String?, of account: String? = "alice", understandsExtras: Bool = true
  ) throws -> WebServicesTransport {
    let web = try #require(web.withLock { $0 })
    return WebServicesTransport(
      WebServicesSession.Settings(
        url: url, apiToken: web.apiToken(), device: device, understandsExtras: understandsExtras),
      webAuthToken: try account.map { try web.webAuthToken(for: $0) }, signIn: nil,
      clock: LeapingClock())
  }

  /// An app on a device; its engine is not started yet.
  func app(
    _ device: String, of account: String = "alice", understandsExtras: Bool = true
  ) throws -> NotesApp {
    NotesApp(
      server.remoteDevice(device, account: account),
      by: try transport(device, of: account, understandsExtras: understandsExtras))
  }

  /// Ends everything, and says whether nothing is left.
  func end() async -> Bool {
    await goAway()
    let isQuiet = server.controls.openRequestCount == 0
    server.close()
    try? FileManager.default.removeItem(at: folder)
    return isQuiet
  }
}
