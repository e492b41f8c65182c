import CloudProtocol
import CloudSync
import CommandLineKit
import LoopbackServer

/// A server: in a file or over HTTP.
protocol Cloud: Sendable {
  /// The identifier of the stores' container.
  var container: String { get }

  /// The connection of the device called `name`, signed in as `account`, if any.
  func device(_ name: String, account: String?) -> any CloudDevice
}

/// A server whose requests can be counted and which can inject faults.
protocol WatchedCloud: Cloud {
  /// The number of requests of the device called `name`.
  func requestCount(of name: String) async throws -> Int

  /// Drops the response to the next request of the device called `name` that modifies records.
  func dropAnswer(to name: String) async throws

  /// The reason why it can't inject faults; `nil` if it can.
  var whyNoFaults: String? { get }
}

/// One device's connection to a server.
protocol CloudDevice: Sendable {
  /// The transport for containers.
  var transport: any CloudTransport { get }

  /// Connects the device to the network, or disconnects it.
  func setOnline(_ isOnline: Bool)

  /// Signs in as another account.
  func signIn(as account: String) async throws
}

/// A device's connection and its container.
struct LinkedDevice: Sendable {
  let device: any CloudDevice
  let container: CKContainer

  /// The device called `name` of `cloud`.
  init(_ cloud: any Cloud, device name: String, account: String?) {
    device = cloud.device(name, account: account)
    container = CKContainer(identifier: cloud.container, transport: device.transport)
  }
}

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
    server.device(name, signedInAs: account)
  }

  func requestCount(of name: String) -> Int {
    server.controls.requestCount(in: RequestScope(device: name))
  }

  func dropAnswer(to name: String) {
    server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords, device: name))
  }

  var whyNoFaults: String? { nil }
}

extension LoopbackDevice: CloudDevice {
  var transport: any CloudTransport { self }

  func setOnline(_ isOnline: Bool) { self.isOnline = isOnline }
}
