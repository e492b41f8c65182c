public import CloudProtocol
public import CloudSync
import Foundation
public import LoopbackServer
import Synchronization

/// The server that containers talk to when nothing else was said.
///
/// By default it is in this process, keeps everything in memory and has one account signed in, so
/// that an app's sync code runs as it is. The environment can say otherwise:
///
/// - `CLOUDSYNC_SERVER` names a file, as a path or a `file:` URL, that the server keeps everything
///   in. Several processes may name the same file at the same time: then they are devices of one
///   cloud, and hear of each other's changes within a second. Or it names a server that speaks
///   CloudKit Web Services, as an `http:` or `https:` URL; `cloudsync exec` sets that and the
///   tokens for the command it runs.
/// - `CLOUDSYNC_ACCOUNT` names the account, or nobody when it is empty.
/// - `CLOUDSYNC_DEVICE` names the device.
/// - `CLOUDSYNC_API_TOKEN` lets the app in to a server by HTTP, and `CLOUDSYNC_WEB_AUTH_TOKEN`
///   stands for the account there; with `CLOUDSYNC_CONTROL_TOKEN` instead of that one, a loopback
///   server signs any account in.
public final class EmbeddedCloud: CloudProvider {
  /// The server in memory, to look into and to break from tests.
  ///
  /// Made at its first use.
  public static let server = LoopbackServer()

  /// The account that is signed in when `CLOUDSYNC_ACCOUNT` says nothing.
  public static let defaultAccount = "default"

  fileprivate struct Contents {
    /// The servers kept in files, by path.
    var servers: [String: LoopbackServer] = [:]
    var devices: [String: any CloudTransport] = [:]
  }

  private static let contents = Mutex(Contents())

  private init() {}

  /// The device that containers of this process are on; signed in when it is first asked for.
  ///
  /// - Throws: `badContainer` when `CLOUDSYNC_SERVER` names nothing that can be used.
  public static func transport(
    for container: String, variables: [String: String]
  ) throws -> any CloudTransport {
    let place = try ServerLocation(variables["CLOUDSYNC_SERVER"])
    let name = variables["CLOUDSYNC_DEVICE"] ?? "this device"
    let account = variables["CLOUDSYNC_ACCOUNT"] ?? defaultAccount
    return try contents.withLock { contents in
      // A device in this process may change its account; one that talks by HTTP has its token's.
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
        device = try webTransport(url, device: name, account: account, variables)
      }
      contents.devices[key] = device
      return device
    }
  }

  private static func webTransport(
    _ url: URL, device: String, account: String, _ variables: [String: String]
  ) throws(CKError) -> WebServicesTransport {
    guard let apiToken = variables["CLOUDSYNC_API_TOKEN"], !apiToken.isEmpty else {
      throw CKError(
        .badContainer,
        "CLOUDSYNC_SERVER names a server by HTTP; set CLOUDSYNC_API_TOKEN to what lets in there.")
    }
    guard !account.isEmpty else {
      return WebServicesTransport(url: url, apiToken: apiToken, device: device)
    }
    if let token = variables["CLOUDSYNC_CONTROL_TOKEN"], !token.isEmpty {
      return WebServicesTransport(
        url: url, apiToken: apiToken, account: account, controlToken: token, device: device)
    }
    return WebServicesTransport(
      url: url, apiToken: apiToken, webAuthToken: variables["CLOUDSYNC_WEB_AUTH_TOKEN"],
      device: device)
  }
}

/// What `CLOUDSYNC_SERVER` names.
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
        "CLOUDSYNC_SERVER names a server by \(scheme), which is not supported; name a file or an "
          + "http URL.")
    }
  }
}

extension EmbeddedCloud.Contents {
  /// The server kept in the file at `path`, opened at its first use.
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
