import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import Records

/// The address of an HTTP server, and the tokens for it.
struct WebAddress: Hashable, Sendable {
  var url: URL
  var apiToken: String
  /// The token that signs in any account; only a loopback server has one.
  var controlToken: String?
  /// The token of one account; used if there is no control token.
  var webToken: String?
  /// The account a new device signs in as when the command line names none.
  var account: String?
  /// The only container the tokens are valid for; `nil` for all.
  var onlyContainer: String?

  /// The server's control interface; `nil` without its token.
  var control: Control? { controlToken.map { Control(url: url, token: $0) } }

  /// The name of the folder for this server's devices.
  ///
  /// It depends on the API token, which belongs to the server's content, not on the address, which
  /// another server may get.
  var folderName: String {
    String(SHA256.hexadecimal(of: (apiToken + (onlyContainer ?? "")).utf8).prefix(16))
  }

  /// The transport of the device called `name`, which signs in as `account` with its first request.
  func transport(device name: String, account: String?) -> WebServicesTransport {
    // Only a loopback server accepts a control token, whatever its address is.
    let settings = WebServicesSession.Settings(
      url: url, apiToken: apiToken, device: name,
      understandsExtras: control == nil ? nil : true)
    guard let account, let control else {
      return WebServicesTransport(
        settings, webAuthToken: account == nil ? nil : webToken, signIn: nil)
    }
    return WebServicesTransport(settings, webAuthToken: nil) { () throws(CloudError) in
      try await control.signIn(as: account)
    }
  }

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
    case .notAuthenticated, .accountTemporarilyUnavailable:
      ToolError(
        "the server at \(place) refuses the sign-in: \(reason)", code: ExitCode.noPermission)
    default: ToolError("the server at \(place) cannot be used: \(reason)")
    }
  }
}
