#if PostgreSQL
  import Foundation
  import PostgreSQL

  /// A database of its own on the server that `CLOUDSYNC_POSTGRESQL` names, removed at the end.
  package final class TemporaryDatabase: Sendable {
    /// The connection string of the database.
    package let address: String
    private let name: String
    private let server: String

    /// Creates the database.
    package init() throws {
      guard let server = ProcessInfo.processInfo.environment["CLOUDSYNC_POSTGRESQL"] else {
        throw PostgreSQLError(
          "run the tests with .ci/postgresql, which starts a server and names it")
      }
      self.server = server
      name = "test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
      let connection = try PostgreSQLConnection(server, patience: .seconds(60))
      try connection.execute(["CREATE DATABASE \(name) TEMPLATE template0"])
      address = server.replacing("/postgres?", with: "/\(name)?")
    }

    /// Runs statements in the database, on a connection of their own.
    package func execute(_ sql: [String]) throws {
      try PostgreSQLConnection(address, patience: .seconds(60)).execute(sql)
    }

    /// Runs a query in the database that returns one column of texts.
    package func rows(_ sql: String) throws -> [String] {
      try PostgreSQLConnection(address, patience: .seconds(60)).run([PostgreSQLStatement(sql)])[0]
        .map { try $0.text(0) }
    }

    /// Whether the database takes connections; those that there are are ended with the change.
    package func setAcceptsConnections(_ accepts: Bool) throws {
      try PostgreSQLConnection(server, patience: .seconds(60)).execute([
        "ALTER DATABASE \(name) ALLOW_CONNECTIONS \(accepts)",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'",
      ])
    }

    /// The connections to the database besides the caller's, each with what it last did.
    ///
    /// The server ends connections after they were closed; those that it still ends after a few
    /// hundred looks are returned, too.
    package var otherConnections: [String] {
      do {
        let connection = try PostgreSQLConnection(server, patience: .seconds(60))
        let query = PostgreSQLStatement(
          "SELECT query, pg_sleep(0.02)::text FROM pg_stat_activity WHERE datname = $1",
          [.text(name)])
        var found: [String] = []
        for _ in 0..<300 {
          found = try connection.run([query])[0].map { try $0.text(0) }
          if found.isEmpty { break }
        }
        return found
      } catch { return ["\(error)"] }
    }

    deinit {
      let connection = try? PostgreSQLConnection(server, patience: .seconds(60))
      try? connection?.execute(["DROP DATABASE \(name) WITH (FORCE)"])
    }
  }
#endif
