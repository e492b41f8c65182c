public import Foundation
package import Records

/// One of a container's three databases.
///
/// Every call sends a request at once; use `CKSyncEngine` to keep a local copy. All calls
/// may be made from any task. See CS-44 to CS-49.
public final class CKDatabase: NSObject, Sendable {
  /// The kinds of database: public, private to the account, or shared with it by other accounts.
  public enum Scope: Int, Sendable {
    /// The public database for all users of the container.
    case `public` = 1
    /// The private database of the signed-in user.
    case `private` = 2
    /// The database of the records that other users shared with the signed-in user.
    case shared = 3

    /// The scope as a value.
    package var value: DatabaseScope {
      switch self {
      case .public: .public
      case .private: .private
      case .shared: .shared
      }
    }

    /// Converts a scope.
    package init(_ value: DatabaseScope) {
      switch value {
      case .public: self = .public
      case .private: self = .private
      case .shared: self = .shared
      }
    }
  }

  /// Whether this is the private, the shared or the public database.
  public let databaseScope: CKDatabase.Scope

  /// The connection to the server, shared by the container's databases.
  package let connection: CloudConnection

  /// The default settings set by `configuredWith`.
  let defaults: OperationDefaults

  /// Creates a database of a container.
  package convenience init(scope: CKDatabase.Scope, connection: CloudConnection) {
    self.init(scope: scope, connection: connection, defaults: OperationDefaults())
  }

  /// Creates a database of a container, with default settings for its calls.
  init(scope: CKDatabase.Scope, connection: CloudConnection, defaults: OperationDefaults) {
    databaseScope = scope
    self.connection = connection
    self.defaults = defaults
  }

  /// The requests to the database.
  var requests: DatabaseRequests {
    DatabaseRequests(connection: connection, scope: databaseScope)
  }

  /// The container and the scope.
  public override var description: String {
    "<CKDatabase: \(databaseScope) database of \(connection.container)>"
  }
}
