import CommandLineKit
import Foundation

/// The server that a command uses.
enum Address: Hashable, Sendable {
  /// A running server, and its control token.
  case server(URL, controlToken: String)
  /// A server in a file.
  case file(String)

  /// Parses the address from a command line, or else from the environment.
  ///
  /// - Parameter needsServer: The action that requires a running server, for the error message;
  ///   `nil` if a file is sufficient.
  init(
    _ arguments: inout Arguments, _ environment: [String: String], needsServer: String? = nil
  ) throws(UsageError) {
    let (server, file) = (arguments.value("server"), arguments.value("data"))
    let token = arguments.value("control-token") ?? environment[Variable.controlToken]
    if server != nil, file != nil { throw UsageError("give --server or --data, not both") }
    if let file {
      self = .file(file)
    } else {
      self = try Address.place(
        server ?? environment[Variable.server], controlToken: token, takesFile: needsServer == nil)
    }
    if case .file(let path) = self, let needsServer {
      throw UsageError(
        "\(needsServer) needs a running server, not the file \(quoted(path)); give --server")
    }
  }

  /// The URL of a running server, for a command that needs no token.
  static func url(
    _ arguments: inout Arguments, _ environment: [String: String]
  ) throws(UsageError) -> URL {
    let text = arguments.value("server") ?? environment[Variable.server] ?? ""
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host != nil
    else {
      throw UsageError(
        text.isEmpty
          ? "say which server: --server URL, or set \(Variable.server)"
          : "\(quoted(text)) is not a server address; it must start with http://")
    }
    return url
  }

  private static func place(
    _ text: String?, controlToken: String?, takesFile: Bool
  ) throws(UsageError) -> Address {
    guard let text, !text.isEmpty else {
      throw UsageError(
        "say which server: --server URL with --control-token T"
          + (takesFile ? ", or --data FILE" : "")
          + "; or set \(Variable.server) and \(Variable.controlToken)")
    }
    if text.contains(/^[A-Za-z0-9.-]+:[0-9]+$/), !FileManager.default.fileExists(atPath: text) {
      throw UsageError("\(quoted(text)) is not a server address; it must start with http://")
    }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme.count > 1
    else { return .file(text) }
    if url.isFileURL { return .file(url.path) }
    guard ["http", "https"].contains(scheme), url.host != nil else {
      throw UsageError("\(quoted(text)) is not a server address; it must start with http://")
    }
    guard let controlToken, !controlToken.isEmpty else {
      throw UsageError(
        "the control token is missing; set \(Variable.controlToken) to the value that it has for "
          + "the server, or to the token that serve printed, or give --control-token")
    }
    guard controlToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw UsageError("the control token is ASCII without blanks")
    }
    return .server(url, controlToken: controlToken)
  }

  /// Opens the server's control interface; a file must exist.
  ///
  /// - Parameter seconds: how long a request other than a transfer may wait for its response.
  func open(timeout seconds: Int = 120) throws -> any ControlInterface {
    switch self {
    case .server(let url, let token): RemoteControl(url: url, token: token, timeout: seconds)
    case .file(let path): FileControl(try ServerData.open(path, create: false))
    }
  }
}
