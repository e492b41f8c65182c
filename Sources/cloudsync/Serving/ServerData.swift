import CommandLineKit
import Foundation
import LoopbackServer

/// The file that a server is kept in.
enum ServerData {
  /// Opens the server in the file at `path`, or makes one in memory for `nil`.
  ///
  /// - Parameter create: Whether a missing file is made; only its owner can read it then.
  /// - Throws: When the file can't be used, or is missing.
  static func open(_ path: String?, create: Bool) throws -> LoopbackServer {
    guard let path else { return LoopbackServer() }
    if !create, !FileManager.default.fileExists(atPath: path) {
      throw ToolError("there is no file \(quoted(path)); name the file a server is kept in")
    }
    return try LoopbackServer(path: path)
  }
}
