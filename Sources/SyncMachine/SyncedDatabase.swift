package import CloudProtocol
package import Records

/// The database that a state belongs to.
///
/// Tokens, zones and pending changes are not valid in another database: all known zones would count
/// as missing there, and the app would delete their data.
package struct SyncedDatabase: Hashable, Sendable, CustomStringConvertible {
  /// The container's identifier.
  package var container: String
  /// The container's environment.
  package var environment: CloudEnvironment
  /// The scope of the database.
  package var scope: DatabaseScope

  /// Creates an identifier.
  package init(container: String, environment: CloudEnvironment, scope: DatabaseScope) {
    self.container = container
    self.environment = environment
    self.scope = scope
  }

  /// Appends the identifier to `writer`.
  func write(to writer: inout ByteWriter) {
    writer.write(container)
    writer.write(environment.rawValue)
    writer.write(scope.rawValue)
  }

  /// Decodes an identifier.
  init(from reader: inout ByteReader) throws(ByteFormatError) {
    container = try reader.string()
    guard let environment = CloudEnvironment(rawValue: try reader.string()) else {
      throw reader.fault("the environment is unknown")
    }
    self.environment = environment
    scope = try reader.enumeration("the scope of a database is unknown")
  }

  /// The scope, the container and the environment.
  package var description: String { "\(scope) database of \(container), \(environment.rawValue)" }
}
