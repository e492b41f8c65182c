import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import Synchronization

/// One device's connection to an HTTP server; it can be disconnected.
final class WebDevice: CloudDevice, CloudTransport {
  private let address: WebAddress
  private let inner: WebServicesTransport
  private let isOnline = Mutex(true)

  /// The device called `name`, which signs in as `account` with its first request.
  init(_ address: WebAddress, _ name: String, account: String?) {
    self.address = address
    // Only a loopback server accepts a control token, whatever its address is.
    let settings = WebServicesSession.Settings(
      url: address.url, apiToken: address.apiToken, device: name,
      understandsExtras: address.control == nil ? nil : true)
    switch (account, address.credential) {
    case (nil, _):
      inner = WebServicesTransport(settings, webAuthToken: nil, signIn: nil)
    case (_?, .webToken(let token)):
      inner = WebServicesTransport(settings, webAuthToken: token, signIn: nil)
    case (let account?, .controlToken(let token)):
      let control = Control(url: address.url, token: token)
      inner = WebServicesTransport(
        settings, webAuthToken: nil,
        signIn: { () throws(CloudError) in try await control.signIn(as: account) })
    }
  }

  var transport: any CloudTransport { self }

  func setOnline(_ isOnline: Bool) { self.isOnline.withLock { $0 = isOnline } }

  func signIn(as account: String) async throws {
    guard let control = address.control else {
      throw ToolError("a web token belongs to one account; use the control token for others")
    }
    inner.signIn(webAuthToken: try await control.signIn(as: account))
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    guard isOnline.withLock({ $0 }) else {
      throw CloudError(.networkUnavailable, "there is no network")
    }
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
