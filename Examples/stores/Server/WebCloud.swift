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
      let status = try await control.status()
      whyNoFaults = status.faultControl ? nil : "the server runs without --fault-control"
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
    try await control.add(
      Control.Fault(action: "drop-answers", kind: "modifyRecords", device: name))
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
