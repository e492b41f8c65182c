import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import Synchronization

/// An HTTP server.
struct WebCloud: Cloud {
  let address: WebAddress

  var container: String { address.onlyContainer ?? Session.container }

  func device(_ name: String, account: String?) -> any CloudDevice {
    WebDevice(address, name, account: account)
  }
}

/// An HTTP server with its control interface, in a container of this demo only.
final class WatchedWebCloud: WatchedCloud {
  let container: String
  let whyNoFaults: String?
  private let address: WebAddress
  private let control: Control
  private let counted = Mutex((last: 0, counts: [String: Int]()))

  /// Fetches the server's status.
  ///
  /// - Throws: `ToolError` if the server can't be used for the demo.
  init(_ address: WebAddress) async throws(ToolError) {
    guard let control = address.control else {
      throw ToolError(
        "the demo signs in two accounts; that needs the server's control token: "
          + "set \(Variable.controlToken), or give --control-token")
    }
    guard address.onlyContainer == nil else {
      throw ToolError(
        "the demo makes containers of its own, so it needs an API token that is good for all of "
          + "them; start the server without --container")
    }
    self.address = address
    self.control = control
    let number = String(UInt32.random(in: 0...(.max)), radix: 16)
    container = "\(Session.container).demo-\(number)"
    do throws(CloudError) {
      let isPossible = try await control.injectsFaults()
      whyNoFaults = isPossible ? nil : "the server runs without --fault-control"
    } catch {
      throw address.refusal(error.code, error.message)
    }
  }

  func device(_ name: String, account: String?) -> any CloudDevice {
    WebDevice(address, name, account: account)
  }

  func requestCount(of name: String) async throws -> Int {
    var isMore = true
    while isMore {
      let last = counted.withLock { $0.last }
      let page = try await control.requests(after: last)
      counted.withLock { counted in
        for request in page.requests where request.container == container {
          counted.counts[request.device, default: 0] += 1
        }
        counted.last = page.next
      }
      isMore = !page.requests.isEmpty
    }
    return counted.withLock { $0.counts[name] ?? 0 }
  }

  func dropAnswer(to name: String) async throws {
    try await control.dropAnswer(to: name)
  }
}

extension WebAddress {
  /// The error for a server that can't be used.
  func refusal(_ error: CKError) -> ToolError {
    refusal(
      CloudError.Code(rawValue: error.code.rawValue) ?? .internalError, error.localizedDescription)
  }

  /// The error for a server that can't be used.
  func refusal(_ code: CloudError.Code, _ reason: String) -> ToolError {
    let place = printable(url.absoluteString)
    return switch code {
    case .networkFailure, .networkUnavailable:
      ToolError("no server answers at \(place); is it running?", code: ExitCode.unavailable)
    case .notAuthenticated:
      ToolError(
        "the server at \(place) refuses the sign-in: \(reason)", code: ExitCode.noPermission)
    default: ToolError("the server at \(place) cannot be used: \(reason)")
    }
  }
}

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
    guard let account else {
      inner = WebServicesTransport(settings, webAuthToken: nil, signIn: nil)
      return
    }
    switch address.credential {
    case .webToken(let token):
      inner = WebServicesTransport(settings, webAuthToken: token, signIn: nil)
    case .controlToken(let token):
      let control = Control(url: address.url, token: token)
      inner = WebServicesTransport(settings, webAuthToken: nil) { () throws(CloudError) in
        try await control.signIn(as: account)
      }
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
