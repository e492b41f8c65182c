public import CloudProtocol
public import Records

/// The ID of a database; a public database has no owner.
///
/// A subscription always belongs to one user: one to a public or shared database is stored under an
/// ID with that scope and the user as owner.
public struct DatabaseID: Hashable, Sendable, Codable {
  /// The identifier of the container that the database belongs to.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// The scope; a shared database is a view that stores no records, only a row for each visible
  /// zone.
  public var scope: DatabaseScope
  /// The owner; `nil` for a public database.
  public var owner: UserID?

  /// Creates the ID of a database.
  public init(
    container: String, environment: CloudEnvironment, scope: DatabaseScope, owner: UserID?
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.owner = owner
  }
}

/// The key of what has a name that is unique in a database.
package struct InDatabase<Name: Hashable & Sendable>: Hashable, Sendable {
  private let name: Name
  private let database: DatabaseID

  /// The key of `name` in `database`.
  package init(_ name: Name, _ database: DatabaseID) {
    self.name = name
    self.database = database
  }
}

extension DatabaseID: Comparable {
  /// Orders by container, environment, scope and owner, with names in byte order, so that the order
  /// is the same in every storage.
  public static func < (first: DatabaseID, second: DatabaseID) -> Bool {
    if first.container != second.container {
      return first.container.utf8.lexicographicallyPrecedes(second.container.utf8)
    }
    if first.environment != second.environment {
      return first.environment.rawValue < second.environment.rawValue
    }
    if first.scope != second.scope { return first.scope.rawValue < second.scope.rawValue }
    return (first.owner?.rawValue ?? "").utf8
      .lexicographicallyPrecedes((second.owner?.rawValue ?? "").utf8)
  }
}
