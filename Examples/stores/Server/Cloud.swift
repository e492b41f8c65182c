import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackServer

/// A server: in a file of a home folder, or over HTTP.
struct Cloud: Sendable {
  private enum Place {
    case file(LoopbackServer)
    case web(WebAddress)
  }

  /// The identifier of the stores' container.
  let container: String

  /// The reason why it can't drop responses; `nil` if it can.
  let whyNoFaults: String?

  private let place: Place

  /// Opens the server of `home`, or creates its file.
  ///
  /// - Throws: `ToolError` if its file is damaged or can't be used; the file is not changed.
  init(_ home: Home) throws(ToolError) {
    if let address = home.server {
      self = Cloud(address)
      return
    }
    do { place = .file(try LoopbackServer(path: home.item("server.sqlite").path)) } catch {
      throw ToolError(
        "cannot open the server: \(error.localizedDescription)", code: exitCode(error))
    }
    container = Session.container
    whyNoFaults = nil
  }

  init(_ address: WebAddress) {
    place = .web(address)
    container = address.onlyContainer ?? Session.container
    whyNoFaults = nil
  }

  /// The server at `address`, in a container of one demo only.
  ///
  /// - Throws: `ToolError` if the server can't be used for the demo.
  init(forDemoAt address: WebAddress) async throws(ToolError) {
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
    place = .web(address)
    let number = String(UInt32.random(in: 0...(.max)), radix: 16)
    container = "\(Session.container).demo-\(number)"
    do throws(CloudError) {
      let isPossible = try await control.injectsFaults()
      whyNoFaults = isPossible ? nil : "the server runs without --fault-control"
    } catch {
      throw address.refusal(error.code, error.message)
    }
  }

  /// The connection of the device called `name`, signed in as `account`, if any; sends no request.
  func device(_ name: String, account: String?) -> CloudDevice {
    switch place {
    case .file(let server):
      CloudDevice(server.device(name, signedInAs: account), container)
    case .web(let address):
      CloudDevice(address.transport(device: name, account: account), container, address.control)
    }
  }

  /// Drops the response to the next request of the device called `name` that modifies records.
  func dropAnswer(to name: String) async throws {
    switch place {
    case .file(let server):
      server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords, device: name))
    case .web(let address): try await address.control?.dropAnswer(to: name)
    }
  }
}
