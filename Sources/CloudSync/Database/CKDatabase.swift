package import CloudProtocol
public import Foundation
package import Records

/// One of a container's three databases.
///
/// Every call asks the server at once; `CKSyncEngine` is the way to keep a local copy. All calls
/// may be made from any task. Source: cloudkit-surface 1.5.
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

  /// How many items one request may hold (cloudkit-surface 2.4).
  package static let maximumItemCount = 400

  /// Which of the container's databases this is.
  public let databaseScope: CKDatabase.Scope

  /// The way to the server, shared by the container's databases.
  package let connection: CloudConnection

  /// A database of a container.
  package init(scope: CKDatabase.Scope, connection: CloudConnection) {
    databaseScope = scope
    self.connection = connection
  }

  /// Carries one request about this database to the server.
  package func send(_ request: CloudRequest) async throws(CKError) -> CloudReply {
    try await connection.send(request, to: databaseScope)
  }

  /// The container and the scope.
  public override var description: String {
    "<CKDatabase: \(databaseScope) database of \(connection.container)>"
  }

  /// The same as `description`.
  public override var debugDescription: String { description }
}

extension CKDatabase {
  /// Refuses requests with more items than one may hold.
  func checkCount(_ count: Int) throws(CKError) {
    guard count > CKDatabase.maximumItemCount else { return }
    throw CKError(
      .limitExceeded,
      """
      The request contains \(count) items which is more than the maximum number of items in a \
      single request (\(CKDatabase.maximumItemCount)). Split it in half and send both.
      """)
  }

  /// Refuses requests that name an item twice.
  func checkUnique<ID: Hashable>(_ ids: [ID], _ kind: String) throws(CKError) {
    var seen: Set<ID> = []
    for id in ids where !seen.insert(id).inserted {
      throw CKError(
        .invalidArguments,
        "You can't save or delete the same \(kind) twice in one request: \(id).")
    }
  }
}
