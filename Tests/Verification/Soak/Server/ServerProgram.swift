import Foundation
import LoopbackHTTP
import LoopbackServer

/// The server in a process of its own: what the soak starts, kills and starts again.
///
/// It says that it listens with one line on its output, and ends when its input does, so that it
/// never outlives the soak.
struct ServerProgram {
  /// The accounts that there are, with the places of their tokens in the line.
  static let accounts = ["alice", "bob"]
  /// The exit code for a port that can't be had.
  static let portInUse: Int32 = 3

  /// Serves the file at `path` on `port`; returns the exit code.
  static func run(port: Int, path: String) async -> Int32 {
    do {
      let server = try LoopbackServer(path: path)
      let web: LoopbackWebServer
      do {
        web = try LoopbackWebServer(server, options: .init(port: port))
      } catch {
        complain(error)
        server.close()
        return portInUse
      }
      let tokens = [web.apiToken()] + (try accounts.map { try web.webAuthToken(for: $0) })
      FileHandle.standardOutput.write(Data((["ready"] + tokens).joined(separator: " ").utf8))
      FileHandle.standardOutput.write(Data("\n".utf8))
      while let bytes = try FileHandle.standardInput.read(upToCount: 1), !bytes.isEmpty {}
      await web.stop()
      server.close()
      return 0
    } catch {
      complain(error)
      return 1
    }
  }

  private static func complain(_ error: any Error) {
    FileHandle.standardError.write(Data("cloudsync-verify soak server: \(error)\n".utf8))
  }
}
