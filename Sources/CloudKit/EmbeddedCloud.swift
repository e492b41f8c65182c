public import CloudProtocol
public import CloudSync
import Foundation
public import LoopbackServer
import Synchronization

/// The server in the process that containers talk to when nothing else was said.
///
/// It keeps everything in memory and has one account signed in, so that an app's sync code runs
/// as it is. The environment can say otherwise:
///
/// - `CLOUDSYNC_SERVER` names a file, as a path or a `file:` URL, that the server keeps everything
///   in. Several processes may name the same file at the same time: then they are devices of one
///   cloud, and hear of each other's changes within a second.
/// - `CLOUDSYNC_ACCOUNT` names the account, or nobody when it is empty.
/// - `CLOUDSYNC_DEVICE` names the device.
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
    var devices: [String: LoopbackDevice] = [:]
  }

  private static let contents = Mutex(Contents())

  private init() {}

  /// The device that containers of this process are on; signed in when it is first asked for.
  ///
  /// - Throws: `badContainer` when `CLOUDSYNC_SERVER` names nothing that can be opened.
  public static func transport(
    for container: String, variables: [String: String]
  ) throws -> any CloudTransport {
    let path = try path(variables["CLOUDSYNC_SERVER"])
    let name = variables["CLOUDSYNC_DEVICE"] ?? "this device"
    return try contents.withLock { contents in
      let key = "\(path ?? "")\n\(name)"
      if let device = contents.devices[key] { return device }
      let account = variables["CLOUDSYNC_ACCOUNT"] ?? defaultAccount
      let server = try path.map { try contents.server(in: $0) } ?? Self.server
      let device = server.device(name, signedInAs: account.isEmpty ? nil : account)
      contents.devices[key] = device
      return device
    }
  }

  /// The file that `CLOUDSYNC_SERVER` names; `nil` for none.
  private static func path(_ text: String?) throws(CKError) -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard let url = URL(string: text), let scheme = url.scheme, scheme.count > 1 else {
      return URL(fileURLWithPath: text).standardizedFileURL.path
    }
    guard url.isFileURL else {
      throw CKError(
        .badContainer,
        "CLOUDSYNC_SERVER names a server by \(scheme), which is not supported; name a file.")
    }
    return url.standardizedFileURL.path
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
