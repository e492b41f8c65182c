import CommandLineKit
import Foundation
import LoopbackServer

/// Where a server keeps its data.
enum ServerData {
  /// Opens the server in the file at `path` or in the PostgreSQL database that `path` names, or
  /// creates one in memory for `nil`.
  ///
  /// - Parameter create: Whether a missing file is created, readable by its owner only.
  /// - Throws: If the data cannot be used, or the file is missing.
  static func open(_ path: String?, create: Bool) throws -> LoopbackServer {
    guard let path else { return LoopbackServer() }
    if isDatabase(path) { return try openDatabase(path) }
    if path.contains(/(^|\s)(host|dbname|user|password|port|service)\s*=/) {
      throw ToolError(
        "the address of a PostgreSQL database is written as a URL: "
          + "postgresql://USER@HOST:PORT/DATABASE", code: ExitCode.usage)
    }
    if !create, !FileManager.default.fileExists(atPath: path) {
      throw ToolError(
        "there is no file \(quoted(path)); give the file of a server", code: ExitCode.noInput)
    }
    return try LoopbackServer(path: path)
  }

  /// Whether `path` is the address of a PostgreSQL database.
  private static func isDatabase(_ path: String) -> Bool {
    path.hasPrefix("postgresql://") || path.hasPrefix("postgres://")
  }

  private static func openDatabase(_ address: String) throws -> LoopbackServer {
    #if PostgreSQL
      do { return try LoopbackServer(postgreSQL: address) } catch let error
        as PostgreSQLStorageError
      {
        throw ToolError(error.message, code: ExitCode.unavailable)
      }
    #else
      throw ToolError(
        "this cloudsync was built without PostgreSQL; install libpq (Debian: libpq-dev) and build "
          + "it with 'swift build -c release --traits PostgreSQL --product cloudsync'",
        code: ExitCode.unavailable)
    #endif
  }

  /// What the data are called in output: an address without its password.
  static func name(_ path: String?) -> String {
    guard let path else { return "memory" }
    guard isDatabase(path), let scheme = path.range(of: "://") else { return path }
    let rest = path[scheme.upperBound...]
    let end = rest.firstIndex(of: "/") ?? rest.endIndex
    guard let at = rest[..<end].lastIndex(of: "@") else { return withoutParameters(path) }
    let user = rest[..<at].prefix { $0 != ":" }
    return withoutParameters(path[..<scheme.upperBound] + user + rest[at...])
  }

  /// The address up to its parameters, one of which may be a password.
  private static func withoutParameters(_ address: some StringProtocol) -> String {
    String(address.prefix { $0 != "?" })
  }
}
