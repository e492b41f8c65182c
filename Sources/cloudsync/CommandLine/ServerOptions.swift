import CommandLineKit
import LoopbackHTTP

/// The options with which `serve` and `exec` start a server.
struct ServerOptions: Hashable {
  /// The port; 0 for any free port.
  var port = 0
  /// The server's file; `nil` for a server in memory.
  var file: String?
  /// The accounts that get a web token.
  var accounts: [String] = []
  /// The container to which the tokens are restricted; `nil` for all.
  var container: String?
  var allowsFaultControl = false
  var allowedOrigins: [String] = []
  /// The control token; `nil` for a random one.
  var controlToken: String?

  /// The account that is used if none is given.
  static let defaultAccount = "default"

  /// Parses the options from a command line.
  init(_ arguments: inout Arguments, _ environment: [String: String]) throws(UsageError) {
    if let text = arguments.value("port") {
      guard let port = UInt16(text) else {
        throw UsageError("\(quoted(text)) is not a port; use 1 to 65535, or 0 for any free port")
      }
      self.port = Int(port)
    }
    if let data = arguments.value("data"), data != "memory" {
      guard !data.isEmpty else { throw UsageError("--data needs a file, or memory") }
      file = data
    }
    accounts = arguments.values("account")
    if accounts.isEmpty { accounts = [ServerOptions.defaultAccount] }
    container = arguments.value("container")
    allowsFaultControl = arguments.flag("fault-control")
    allowedOrigins = arguments.values("allow-origin")
    for origin in allowedOrigins {
      guard WebOrigin(origin) != nil else {
        throw UsageError("\(quoted(origin)) is not an origin; write one like http://localhost:3000")
      }
    }
    controlToken = try ServerOptions.controlToken(in: environment)
  }

  /// The control token from the environment.
  private static func controlToken(
    in environment: [String: String]
  ) throws(UsageError) -> String? {
    guard let token = environment[Variable.controlToken], !token.isEmpty else { return nil }
    guard token.utf8.count >= 16, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError(
        "\(Variable.controlToken) needs 16 or more characters of ASCII without blanks; unset it "
          + "to get a random token")
    }
    return token
  }
}

/// The environment variables that `exec` sets and the other commands read.
enum Variable {
  static let server = "CLOUDSYNC_SERVER"
  static let apiToken = "CLOUDSYNC_API_TOKEN"
  static let controlToken = "CLOUDSYNC_CONTROL_TOKEN"
  static let account = "CLOUDSYNC_ACCOUNT"
  static let webAuthToken = "CLOUDSYNC_WEB_AUTH_TOKEN"
  static let container = "CLOUDSYNC_CONTAINER"
}
