import CloudProtocol
import CommandLineKit
import LoopbackServer

/// The server in a file of the home folder, which the tool's processes share.
struct HomeCloud: WatchedCloud {
  let server: LoopbackServer
  let container = Session.container

  /// Opens the server in `home`, or creates it.
  ///
  /// - Throws: `ToolError` if its file is damaged or can't be used; the file is not changed.
  init(_ home: Home) throws(ToolError) {
    do {
      server = try LoopbackServer(path: home.serverPath)
      CrashPoint.prepare(server)
    } catch {
      throw ToolError("cannot open the server \(home.serverPath): \(error)")
    }
  }

  func device(_ name: String, account: String?) -> any CloudDevice {
    HomeDevice(device: server.device(name, signedInAs: account))
  }

  func requestCount(of name: String) -> Int {
    server.controls.requestCount(in: RequestScope(device: name))
  }

  func dropAnswer(to name: String) {
    server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords, device: name))
  }

  var whyNoFaults: String? { nil }
}

/// One device's connection to the server in the home folder.
private struct HomeDevice: CloudDevice {
  let device: LoopbackDevice

  var transport: any CloudTransport { device }

  func setOnline(_ isOnline: Bool) { device.isOnline = isOnline }

  func signIn(as account: String) { device.signIn(as: account) }
}
