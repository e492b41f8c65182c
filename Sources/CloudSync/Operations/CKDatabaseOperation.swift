import Foundation
import Synchronization

/// The superclass of the operations on one database.
///
/// Unchecked for the reason `CKOperation` gives; its own property is guarded by a lock.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
  private let chosen = Mutex<CKDatabase?>(nil)

  /// The database of the operation; set by `CKDatabase.add(_:)`.
  ///
  /// If it is `nil` when the operation starts, the operation uses the private database of its
  /// container.
  public final var database: CKDatabase? {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }

  /// The requests to the database.
  final var requests: DatabaseRequests {
    (database ?? effectiveContainer.privateCloudDatabase).requests
  }

  override var connection: CloudConnection { database?.connection ?? super.connection }
}
