import CommandLineKit
import Foundation
import LoopbackServer

/// A server's file.
enum ServerData {
  /// Opens the server in the file at `path`, or creates one in memory for `nil`.
  ///
  /// - Parameter create: Whether a missing file is created, readable by its owner only.
  /// - Throws: If the file cannot be used, or is missing.
  static func open(_ path: String?, create: Bool) throws -> LoopbackServer {
    guard let path else { return LoopbackServer() }
    if !create, !FileManager.default.fileExists(atPath: path) {
      throw ToolError(
        "there is no file \(quoted(path)); give the file of a server", code: ExitCode.noInput)
    }
    return try LoopbackServer(path: path)
  }
}
