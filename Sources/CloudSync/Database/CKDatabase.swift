public import Foundation
package import Records

/// One of a container's three databases.
///
/// Every call asks the server at once; `CKSyncEngine` is the way to keep a local copy. All calls
/// may be made from any task. See CS-44 to CS-49.
public final class CKDatabase: NSObject, Sendable {
  /// Which of a container's databases.
  public enum Scope: Int, Sendable {
    /// One for all users of the container.
    case `public` = 1
    /// The signed-in user's own.
    case `private` = 2
    /// What other users shared with the signed-in user.
    case shared = 3

    /// The scope as the vocabulary spells it.
    package var value: DatabaseScope {
      switch self {
      case .public: .public
      case .private: .private
      case .shared: .shared
      }
    }

    /// The scope of the vocabulary.
    package init(_ value: DatabaseScope) {
      switch value {
      case .public: self = .public
      case .private: self = .private
      case .shared: self = .shared
      }
    }
  }

  /// Which of the container's databases this is.
  public let databaseScope: CKDatabase.Scope

  /// The way to the server, shared by the container's databases.
  package let connection: CloudConnection

  /// What a `configuredWith` set for the calls made here.
  let defaults: OperationDefaults

  /// A database of a container.
  package convenience init(scope: CKDatabase.Scope, connection: CloudConnection) {
    self.init(scope: scope, connection: connection, defaults: OperationDefaults())
  }

  /// A database of a container, with settings for its calls.
  init(scope: CKDatabase.Scope, connection: CloudConnection, defaults: OperationDefaults) {
    databaseScope = scope
    self.connection = connection
    self.defaults = defaults
  }

  /// The place where everything asked of the database is done.
  var requests: DatabaseRequests {
    DatabaseRequests(connection: connection, scope: databaseScope)
  }

  /// The container and the scope.
  public override var description: String {
    "<CKDatabase: \(databaseScope) database of \(connection.container)>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }
}
