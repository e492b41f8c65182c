import Foundation
import Synchronization

/// The parent of the operations on one database.
///
/// Unchecked for the reason its parent gives; what it adds lies behind a lock.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
  private let chosen = Mutex<CKDatabase?>(nil)

  /// The database the operation works on; set by `CKDatabase.add(_:)`.
  ///
  /// Where it is `nil` when the operation starts, that is the private database of the
  /// configuration's container, or of the default container.
  public final var database: CKDatabase? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  /// The way to the database; refuses once the operation is cancelled.
  final func requests() throws(CKError) -> DatabaseRequests {
    try checkCancellation()
    return (database ?? effectiveContainer.privateCloudDatabase).requests
  }

  override var containerName: String { database?.connection.container ?? super.containerName }
}
