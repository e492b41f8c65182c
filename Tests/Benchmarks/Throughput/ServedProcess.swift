import CommandLineKit
import Foundation
import VerificationSupport

/// A server in a process of its own, which is killed with this value.
final class ServedProcess: Sendable {
  /// The process ID.
  let id: Int32
  let port: Int
  /// The query with the tokens of the account.
  let tokens: String
  // It keeps the input of the process open.
  private let process: ChildProcess

  /// Starts `cloudsync serve`.
  ///
  /// - Parameters:
  ///   - account: the account that it announces.
  ///   - data: what follows `--data`; `nil` for a server in memory.
  init(account: String, data: String? = nil) throws {
    let data = data.map { ["--data", $0] } ?? []
    process = try ChildProcess(
      [Self.program("cloudsync"), "serve", "--json", "--account", account] + data)
    id = process.id
    let line = Data(process.greeting.joined(separator: " ").utf8)
    guard let ready = try JSONSerialization.jsonObject(with: line) as? [String: Any],
      let url = (ready["url"] as? String).flatMap({ URL(string: $0) }), let port = url.port,
      let token = ready["apiToken"] as? String,
      let accounts = ready["accounts"] as? [[String: String]],
      let webToken = accounts.first?["webAuthToken"]
    else { throw ToolError("the server did not start") }
    self.port = port
    tokens = "ckAPIToken=\(token)&ckWebAuthToken=\(webToken)"
  }

  deinit { kill(id, SIGKILL) }

  /// The path of a tool that was built beside this one.
  static func program(_ name: String) throws -> String {
    let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let path = own.deletingLastPathComponent().appending(path: name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw Absence(reason: "\(name) is not built")
    }
    return path
  }
}
