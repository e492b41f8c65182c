import CommandLineKit
import LoopbackHTTP
import LoopbackServer
import Synchronization
import VerificationSupport

/// A server of the soak: at most one process at a time, always on the same port and data.
///
/// One task at a time may start and end servers.
final class ServerChild: Sendable {
  /// The tokens that a server announces when it listens.
  struct Greeting: Hashable, Sendable {
    var apiToken: String
    /// The web tokens, by account.
    var webTokens: [String]
  }

  /// The accounts, in the order of their tokens.
  static let accounts = ["alice", "bob"]

  private let running = Mutex<ChildProcess?>(nil)
  /// The file of the server, or the address of its database.
  let path: String
  private let port: Int

  /// Creates a server for a file without starting it.
  init(port: Int, path: String) {
    self.port = port
    self.path = path
  }

  /// The URL of the server.
  var url: String { "http://127.0.0.1:\(port)" }

  /// The ID of the running process.
  var processID: Int32? { running.withLock { $0?.id } }

  /// Starts a server, and returns when it listens.
  func start() throws -> Greeting {
    let process = try ChildProcess(SoakCommand.childWords(["server", String(port), path]))
    running.withLock { $0 = process }
    let words = process.greeting
    guard words.count == 1 + Self.accounts.count else {
      throw ToolError("the server greets in an unknown way")
    }
    return Greeting(apiToken: words[0], webTokens: Array(words[1...]))
  }

  /// Kills the server, and returns when it has ended.
  func kill() async { await take()?.kill() }

  /// Lets the server end by itself; returns its exit code, or the signal with a minus sign.
  func stop() async -> Int32 { await take()?.stop() ?? 0 }

  private func take() -> ChildProcess? {
    running.withLock { running in
      defer { running = nil }
      return running
    }
  }

  /// Opens a server on a file or a PostgreSQL database.
  static func open(_ path: String) throws -> LoopbackServer {
    #if PostgreSQL
      if path.hasPrefix("postgresql:") { return try LoopbackServer(postgreSQL: path) }
    #endif
    return try LoopbackServer(path: path)
  }

  /// In the child: serves the file at `path` on `port` until the input ends.
  static func serve(port: Int, path: String) async throws {
    let server = try open(path)
    server.watchForForeignChanges()
    defer { server.close() }
    let web = try LoopbackWebServer(server, options: .init(port: port))
    try ChildProcess.serve([web.apiToken()] + accounts.map { try web.webAuthToken(for: $0) })
    await web.stop()
  }
}
