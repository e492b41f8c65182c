import CloudProtocol
import CloudSync
import CommandLineKit
import LoopbackServer
import Synchronization

/// One device's connection to a server, and the stores' container on it.
struct CloudDevice: Sendable {
  let transport: DeviceTransport

  let container: CKContainer

  private let control: Control?

  /// A device that uses a transport to a server.
  ///
  /// - Parameter control: signs in another account on an HTTP server.
  init(_ inner: any CloudTransport, _ container: String, _ control: Control? = nil) {
    transport = DeviceTransport(inner)
    self.container = CKContainer(identifier: container, transport: transport)
    self.control = control
  }

  func signIn(as account: String) async throws {
    switch transport.inner {
    case let device as LoopbackDevice: device.signIn(as: account)
    case let transport as WebServicesTransport:
      guard let control else {
        throw ToolError("a web token belongs to one account; use the control token for others")
      }
      transport.signIn(webAuthToken: try await control.signIn(as: account))
    default: break
    }
  }
}

/// Counts the requests of a device, which can be disconnected from the network.
final class DeviceTransport: CloudTransport {
  fileprivate let inner: any CloudTransport
  private let state = Mutex((isOnline: true, requestCount: 0))

  fileprivate init(_ inner: any CloudTransport) { self.inner = inner }

  var requestCount: Int { state.withLock { $0.requestCount } }

  /// Connects the device to the network, or disconnects it.
  func setOnline(_ isOnline: Bool) {
    if let device = inner as? LoopbackDevice {
      device.isOnline = isOnline
    } else {
      state.withLock { $0.isOnline = isOnline }
    }
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let isOnline = state.withLock { state in
      if state.isOnline { state.requestCount += 1 }
      return state.isOnline
    }
    guard isOnline else { throw CloudError(.networkUnavailable, "there is no network") }
    let reply = try await inner.send(call)
    CrashPoint.passRequest()
    return reply
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    inner.observeSignals(listener)
  }
}
