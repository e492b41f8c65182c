package import CloudProtocol
public import CloudSync
import Foundation
public import LoopbackServer
import Synchronization

/// The default server of containers that are created without a transport.
///
/// By default it runs in this process, stores everything in memory and has one signed-in account,
/// so that an app's sync code runs unchanged. Environment variables change this:
///
/// - `CLOUDSYNC_SERVER` names a file, as a path or a `file:` URL, in which the server stores
///   everything. Several processes can use the same file at the same time: they are then devices of
///   one cloud, if each has a name of its own, and receive each other's changes within a second. It
///   can also name a CloudKit Web Services server, as an `http:` or `https:` URL; `cloudsync exec`
///   sets the URL and the tokens for the command it runs.
/// - `CLOUDSYNC_ACCOUNT` names the account; empty means no account.
/// - `CLOUDSYNC_DEVICE` names the device, which should keep its name. Without it, each process is
///   another device of a server that is reached by HTTP; with a file, the processes without a name
///   are one device, so name each process that shares a file.
/// - `CLOUDSYNC_API_TOKEN` is the app's token for an HTTP server, and `CLOUDSYNC_WEB_AUTH_TOKEN`
///   the token of the account; with `CLOUDSYNC_CONTROL_TOKEN` and `CLOUDSYNC_ACCOUNT` instead, a
///   loopback server signs in any account. With all of them, the account is the one that
///   `CLOUDSYNC_ACCOUNT` names.
public final class EmbeddedCloud: CloudProvider {
  /// The server in memory, for inspection and fault injection in tests.
  ///
  /// Created at its first use.
  public static let server = LoopbackServer()

  /// The signed-in account if `CLOUDSYNC_ACCOUNT` is not set.
  public static let defaultAccount = "default"

  fileprivate struct Contents {
    /// The servers stored in files, by path.
    var servers: [String: LoopbackServer] = [:]
    var devices: [String: any CloudTransport] = [:]
  }

  private static let contents = Mutex(Contents())

  private init() {}

  /// The device of this process's containers, signed in at its first use.
  ///
  /// - Throws: `badContainer` when `CLOUDSYNC_SERVER` is not usable.
  package static func transport(
    for container: String, variables: [String: String]
  ) throws -> any CloudTransport {
    let place = try ServerLocation(variables["CLOUDSYNC_SERVER"])
    let ownName = variables["CLOUDSYNC_DEVICE"]
    let name = ownName ?? "this device"
    let account = variables["CLOUDSYNC_ACCOUNT"] ?? defaultAccount
    return try contents.withLock { contents in
      // A device in this process may change its account; with HTTP the token determines the
      // account.
      let key =
        place.isRemote
        ? "\(place)\n\(name)\n\(account)\n\(variables["CLOUDSYNC_WEB_AUTH_TOKEN"] ?? "")"
        : "\(place)\n\(name)"
      if let device = contents.devices[key] { return device }
      let device: any CloudTransport
      switch place {
      case .memory:
        device = server.device(name, signedInAs: account.isEmpty ? nil : account)
      case .file(let path):
        device = try contents.server(in: path)
          .device(name, signedInAs: account.isEmpty ? nil : account)
      case .web(let url):
        device = try webTransport(url, device: ownName, account: account, variables)
      }
      contents.devices[key] = device
      return device
    }
  }

  private static func webTransport(
    _ url: URL, device: String?, account: String, _ variables: [String: String]
  ) throws(CKError) -> WebServicesTransport {
    guard let apiToken = variables["CLOUDSYNC_API_TOKEN"], !apiToken.isEmpty else {
      throw CKError(
        .badContainer,
        "CLOUDSYNC_SERVER is an HTTP URL; set CLOUDSYNC_API_TOKEN to the API token of the server.")
    }
    guard !account.isEmpty else {
      return WebServicesTransport(url: url, apiToken: apiToken, device: device)
    }
    let webAuthToken = variables["CLOUDSYNC_WEB_AUTH_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
    // A web token belongs to an account; only a named account is preferred to that one.
    let usesWebToken = webAuthToken != nil && variables["CLOUDSYNC_ACCOUNT"] == nil
    if !usesWebToken, let token = variables["CLOUDSYNC_CONTROL_TOKEN"], !token.isEmpty {
      return WebServicesTransport(
        url: url, apiToken: apiToken, account: account, controlToken: token, device: device)
    }
    return WebServicesTransport(
      url: url, apiToken: apiToken, webAuthToken: webAuthToken, device: device)
  }
}

/// The server named by `CLOUDSYNC_SERVER`.
private enum ServerLocation {
  case memory
  case file(String)
  case web(URL)

  var isRemote: Bool {
    if case .web = self { true } else { false }
  }

  init(_ text: String?) throws(CKError) {
    guard let text, !text.isEmpty else {
      self = .memory
      return
    }
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme.count > 1
    else {
      self = .file(URL(fileURLWithPath: text).standardizedFileURL.path)
      return
    }
    if url.isFileURL {
      self = .file(url.standardizedFileURL.path)
    } else if ["http", "https"].contains(scheme), url.host != nil {
      self = .web(url)
    } else {
      throw CKError(
        .badContainer,
        "CLOUDSYNC_SERVER has the scheme \(scheme), which is not supported; use a file or an "
          + "http URL.")
    }
  }
}

extension EmbeddedCloud.Contents {
  /// The server stored in the file at `path`, opened at its first use.
  fileprivate mutating func server(in path: String) throws -> LoopbackServer {
    if let server = servers[path] { return server }
    let server: LoopbackServer
    do { server = try LoopbackServer(path: path) } catch {
      throw CKError(.badContainer, "CLOUDSYNC_SERVER can't be opened: \(error.message)")
    }
    server.watchForForeignChanges(every: .milliseconds(200))
    servers[path] = server
    return server
  }
}
