import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
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

  /// What a process is told.
  struct Settings: Codable, Sendable {
    var port: Int
    /// The file of the server, or the address of its database.
    var path: String
    /// The URL under which devices reach it; `nil` for its own.
    var publicURL: String?
    /// How many seconds its clock is ahead.
    var skew = 0
    /// For how many seconds it waits for its database.
    var patience = 30
    /// Whether it tells other servers of changes.
    var notifies = true
  }

  /// The accounts of the devices, in the order of their tokens.
  static let accounts = ["alice", "bob"]
  /// The account of the probes, whose token comes last.
  static let probe = "carol"

  private let running = Mutex<ChildProcess?>(nil)
  private let settings: Mutex<Settings>
  /// How far the clock of a process may be off.
  private let skew: Int

  /// Creates a server without starting it.
  init(_ settings: Settings, skew: Int) {
    self.settings = Mutex(settings)
    self.skew = skew
  }

  /// The file of the server, or the address of its database.
  var path: String { settings.withLock { $0.path } }

  /// The URL of the server.
  var url: String { "http://127.0.0.1:\(settings.withLock { $0.port })" }

  /// The ID of the running process.
  var processID: Int32? { running.withLock { $0?.id } }

  /// Starts a server, and returns when it listens.
  ///
  /// - Parameters:
  ///   - notifies: Whether it tells other servers of changes.
  ///   - isBalanced: Whether the addresses in its answers are those of all servers.
  func start(notifies: Bool = true, isBalanced: Bool = true) throws -> Greeting {
    let settings = settings.withLock { settings in
      settings.skew = Int.random(in: -skew...skew)
      var current = settings
      current.notifies = notifies
      if !isBalanced { current.publicURL = nil }
      return current
    }
    let text = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
    let process = try ChildProcess(SoakCommand.childWords(["server", text]))
    running.withLock { $0 = process }
    let words = process.greeting
    guard words.count == 2 + Self.accounts.count else {
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
  static func open(_ settings: Settings) throws -> LoopbackServer {
    let skew = Double(settings.skew)
    let clock: @Sendable () -> Timestamp = {
      Timestamp(
        secondsSinceReferenceDate: LoopbackServer.systemTime().secondsSinceReferenceDate + skew)
    }
    #if PostgreSQL
      if settings.path.hasPrefix("postgresql:") {
        return try LoopbackServer(
          postgreSQL: settings.path, notifies: settings.notifies,
          patience: .seconds(settings.patience), clock: clock)
      }
    #endif
    return try LoopbackServer(path: settings.path, clock: clock)
  }

  /// In the child: serves until the input ends.
  static func serve(_ text: String) async throws {
    let settings = try JSONDecoder().decode(Settings.self, from: Data(text.utf8))
    let server = try open(settings)
    server.watchForForeignChanges()
    defer { server.close() }
    var options = LoopbackWebServer.Options(port: settings.port)
    options.publicURL = settings.publicURL
    let web = try LoopbackWebServer(server, options: options)
    try ChildProcess.serve(
      [web.apiToken()] + (accounts + [probe]).map { try web.webAuthToken(for: $0) })
    await web.stop()
  }
}
