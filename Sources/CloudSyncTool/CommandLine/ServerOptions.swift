import CommandLineKit
import Foundation
import LoopbackHTTP
import WebServices

/// The options with which `serve` and `exec` start a server.
struct ServerOptions: Sendable {
  /// The settings of the web server.
  var web = LoopbackWebServer.Options()
  /// The server's file; `nil` for a server in memory.
  var file: String?
  /// The archive with which an empty server begins.
  var importFile: String?
  /// The file that gets an archive when the server stops.
  var exportFile: String?
  /// Whether there is no archive yet at the path that is imported from and exported to.
  var beginsWithoutArchive: Bool {
    importFile == exportFile
      && importFile.map { !FileManager.default.fileExists(atPath: $0) } ?? false
  }
  /// The accounts that get a web token; the default depends on those that exist.
  var accounts: [String] = []
  /// The container to which the tokens are restricted; `nil` for all.
  var container: String?
  /// The file that gets a line for each request; `-` is standard error.
  var requestLog: String?
  /// The faults at the start.
  var faults: FaultProfile?

  /// The account that is created if none is given and none exists.
  static let defaultAccount = "default"

  /// Parses the options from a command line.
  init(_ arguments: inout Arguments, _ environment: [String: String]) throws(UsageError) {
    if let path = arguments.value("config") {
      let configuration: Data
      do throws(ToolError) { configuration = try readFile(path) } catch {
        throw UsageError(error.description, code: error.code)
      }
      do throws(UsageError) { try arguments.fill(from: configuration) } catch {
        let mistake = ServerOptions.mistake(in: configuration) ?? error.description
        throw UsageError("\(quoted(path)): \(mistake)")
      }
    }
    if let text = arguments.value("port") {
      guard let port = UInt16(text) else {
        throw UsageError("\(quoted(text)) is not a port; use 1 to 65535, or 0 for any free port")
      }
      web.port = Int(port)
    }
    if let data = arguments.value("data"), data != "memory" {
      guard !data.isEmpty else { throw UsageError("--data needs a file, or memory") }
      file = data
    }
    importFile = arguments.value("import")
    exportFile = arguments.value("export-on-exit")
    requestLog = arguments.value("request-log")
    accounts = arguments.values("account")
    if accounts.contains("") { throw UsageError("--account needs a name") }
    container = arguments.value("container")
    web.allowsFaultControl = arguments.flag("fault-control")
    web.allowedOrigins = arguments.values("allow-origin")
    for origin in web.allowedOrigins {
      guard WebOrigin(origin) != nil else {
        throw UsageError("\(quoted(origin)) is not an origin; write one like http://localhost:3000")
      }
    }
    if let path = arguments.value("faults") {
      guard web.allowsFaultControl else { throw UsageError("--faults needs --fault-control") }
      faults = try FaultProfile(path)
    }
    try readNames(&arguments)
    web.controlToken = try ServerOptions.controlToken(in: environment)
  }

  /// What is wrong with a configuration that is not JSON, and where; `nil` for JSON.
  private static func mistake(in configuration: Data) -> String? {
    do {
      _ = try JSON(parsing: [UInt8](configuration))
      return nil
    } catch {
      return "the configuration is not JSON: \(error)"
    }
  }

  /// Parses the options for clients on other machines.
  private mutating func readNames(_ arguments: inout Arguments) throws(UsageError) {
    if let host = arguments.value("host") {
      guard !host.isEmpty, !host.contains("/") else {
        throw UsageError(
          "\(quoted(host)) is not an address of this machine; 0.0.0.0 is all of them")
      }
      web.host = host
    }
    web.publicURL = arguments.value("public-url")
    if let publicURL = web.publicURL, WebOrigin(publicURL) == nil {
      throw UsageError(
        "\(quoted(publicURL)) is not a public URL; write one like https://sync.example.com, "
          + "without a path")
    }
    web.allowedHosts = arguments.values("allow-host")
    for host in web.allowedHosts where WebOrigin("http://\(host)") == nil {
      throw UsageError("\(quoted(host)) is not a host; write one like sync.example.com")
    }
    web.trustedProxies = arguments.values("trusted-proxy")
    for proxy in web.trustedProxies where AddressRange(proxy) == nil {
      throw UsageError(
        "\(quoted(proxy)) is not a proxy's address; write one like 127.0.0.1 or 10.0.0.0/8")
    }
  }

  /// A warning if the server listens for other machines, if its file may not be written or others
  /// may read it, or if the limit of open files is too low; `nil` if none of these applies.
  var warning: String? {
    let warnings = [
      networkWarning, writingWarning, readersWarning, DescriptorLimit.warning(web),
    ].compactMap(\.self)
    return warnings.isEmpty ? nil : warnings.joined(separator: "\n")
  }

  private var writingWarning: String? {
    let files = FileManager.default
    guard let file, files.fileExists(atPath: file) else { return nil }
    let consequence = "may not be written, so the server refuses all changes."
    guard files.isWritableFile(atPath: file) else {
      return "cloudsync: \(printable(file)) \(consequence)"
    }
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
    // Beside a log that is there already nothing has to be created.
    guard !files.isWritableFile(atPath: folder), !files.fileExists(atPath: file + "-wal")
    else { return nil }
    return "cloudsync: the folder \(printable(folder)) \(consequence)"
  }

  private var readersWarning: String? {
    guard let file else { return nil }
    let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard let mode = attributes?[.posixPermissions] as? Int, mode & 0o077 != 0 else { return nil }
    return "cloudsync: \(printable(file)) has the mode \(String(mode, radix: 8)), so other users "
      + "of this machine may use it; it has all data and the secret of all tokens. Its mode "
      + "should be 600."
  }

  private var networkWarning: String? {
    guard !web.isLoopback else { return nil }
    return "cloudsync: listening on \(web.host): every machine that reaches this address can use "
      + "the server with a token, and sees tokens and data in transit, because this is plain HTTP. "
      + "Put a proxy with TLS in front of it outside of a network that you trust."
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
