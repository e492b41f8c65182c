import CloudProtocol
import CloudSync
import LoopbackServer

/// A server, however it is reached.
protocol Cloud: Sendable {
  /// The container of the stores there.
  var container: String { get }

  /// The way of the device called `name`, signed in as `account`, or with `nil` as nobody.
  func device(_ name: String, account: String?) -> any CloudDevice
}

/// A server that can be looked into, and told what shall go wrong.
protocol WatchedCloud: Cloud {
  /// How many requests of the device called `name` it has taken so far.
  func requestCount(of name: String) async throws -> Int

  /// Has the answer to the next change of records by the device called `name` be lost.
  func dropAnswer(to name: String) async throws

  /// Why it can't be told what shall go wrong; `nil` when it can.
  var whyNoFaults: String? { get }
}

/// One device's way to a server.
protocol CloudDevice: Sendable {
  /// The way, for containers.
  var transport: any CloudTransport { get }

  /// Lets the device have a network, or none.
  func setOnline(_ isOnline: Bool)

  /// Signs in as another account, leaving the one before.
  func signIn(as account: String) async throws
}

/// A device's connection to a server.
struct LinkedDevice: Sendable {
  let device: any CloudDevice
  let container: CKContainer

  /// The device called `name` of `cloud`.
  init(_ cloud: any Cloud, device name: String, account: String?) {
    device = cloud.device(name, account: account)
    container = CKContainer(identifier: cloud.container, transport: device.transport)
  }
}
