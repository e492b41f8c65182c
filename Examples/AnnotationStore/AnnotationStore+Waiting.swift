public import Foundation
import SyncSupport
import Synchronization

/// A change that waits to be sent.
public struct SyncOperation: Hashable, Sendable, Codable, Identifiable {
  /// The effect of a change on the server.
  public enum OperationType: String, Hashable, Sendable, Codable {
    /// A record is made.
    case create
    /// A record is changed.
    case update
    /// A record is removed permanently.
    case delete
  }

  /// The item.
  public var id: UUID
  /// The effect.
  public var type: OperationType
  /// The record's name.
  public var recordID: String
  /// The date of the change.
  public var timestamp: Date
}

/// An item that the server refuses, and the reason.
public struct AnnotationRefusal: Hashable, Sendable, Codable, Identifiable {
  /// The item.
  public var id: UUID
  /// The number of the CloudKit error.
  public var code: Int
  /// What happened and what to do, without content.
  public var message: String
}

/// The offline queue, which is stored together with the items.
extension AnnotationStore {
  /// Every change that is to be sent, oldest first; edits in conflict are in ``conflicts``.
  public var pendingOperations: [SyncOperation] {
    state.withLock { state in
      state.tables.waiting.map { item in
        SyncOperation(
          id: item.id,
          type: item.isPurged ? .delete : item.cloud == nil ? .create : .update,
          recordID: item.id.uuidString, timestamp: item.fields.updatedAt)
      }
    }
  }

  /// The number of changes that the server has not confirmed, with those that wait for the user.
  public var waitingCount: Int {
    state.withLock { $0.tables.items.values.count { $0.change != nil || $0.dispute != nil } }
  }

  /// Whether nothing is uploaded until the user made space and asks for a sync.
  public var isStorageFull: Bool { state.withLock { $0.tables.isStorageFull } }

  /// The items that the server refuses, in the order of their IDs.
  ///
  /// They are sent again after an edit, and by a sync that the user asks for.
  public var refusals: [AnnotationRefusal] {
    state.withLock { state in
      state.tables.items.values.compactMap { item in
        item.refusal.map { AnnotationRefusal(id: item.id, code: $0.code, message: $0.message) }
      }
    }.sorted { $0.id.precedes($1.id) }
  }

  /// Discards the edits of an item, so that it is as on the server; a new item is removed.
  ///
  /// A new item that was sent without an answer is removed from the server, too; if other
  /// devices added items to it, it stays in the trash.
  /// - Throws: `AnnotationError.notFound`, or `FileError` if it can't be stored.
  public func discardEdits(of id: UUID) throws {
    try transaction { tables in
      guard var item = tables.items[id] else { throw AnnotationError.notFound(id) }
      guard item.cloud != nil else {
        let isRefused = item.refusal != nil
        change(&item, &tables) { $0.isDeleted = true }
        return tables.removeTree(id, fromServer: !isRefused)
      }
      item.mine = nil
      item.dispute = nil
      item.refusal = nil
      tables.put(item, waits: nil)
    }
  }
}
