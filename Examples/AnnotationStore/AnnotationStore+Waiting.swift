public import Foundation
import SyncSupport
import Synchronization

/// One change that waits to be sent.
public struct SyncOperation: Hashable, Sendable, Codable, Identifiable {
  /// What is to happen in the cloud.
  public enum OperationType: String, Hashable, Sendable, Codable {
    /// A record is made.
    case create
    /// A record is changed.
    case update
    /// A record is removed for good.
    case delete
  }

  /// The item.
  public var id: UUID
  /// What is to happen.
  public var type: OperationType
  /// The record's name.
  public var recordID: String
  /// When a person made the change.
  public var timestamp: Date
}

/// An item that the cloud refuses, and why.
public struct AnnotationRefusal: Hashable, Sendable, Codable, Identifiable {
  /// The item.
  public var id: UUID
  /// The number of the CloudKit error.
  public var code: Int
  /// What happened and what to do, without content.
  public var message: String
}

/// What waits, and what is stuck.
extension AnnotationStore {
  /// The offline queue: every change the cloud has not confirmed, oldest first.
  ///
  /// It is on the disk together with the items.
  public var pendingOperations: [SyncOperation] {
    state.withLock { state in
      state.tables.queue.entries.compactMap { entry in
        guard let item = state.tables.items[entry.id] else { return nil }
        let type: SyncOperation.OperationType =
          entry.change == .delete ? .delete : item.cloud == nil ? .create : .update
        return SyncOperation(
          id: entry.id, type: type, recordID: entry.id.uuidString,
          timestamp: item.fields.date("updatedAt") ?? .distantPast)
      }
    }
  }

  /// How many changes the cloud has not confirmed.
  public var waitingCount: Int { state.withLock { $0.tables.queue.count } }

  /// Whether uploads stand still until a person made space and syncs by hand.
  public var isStorageFull: Bool { state.withLock { $0.isStorageFull } }

  /// What the cloud refuses, in the order of the IDs; it is tried again when it is edited, and by a
  /// sync that a person asks for.
  public var refusals: [AnnotationRefusal] {
    state.withLock { state in
      state.tables.items.values.compactMap { item in
        item.refusal.map {
          AnnotationRefusal(id: item.id, code: $0.code, message: $0.message)
        }
      }
    }.sorted { $0.id.uuidString < $1.id.uuidString }
  }

  /// Gives up what this device changed of an item, so that it is as in the cloud again; an item the
  /// cloud never had is gone.
  ///
  /// - Throws: `AnnotationError.notFound`, or `FileError` when it can't be written down.
  public func discardEdits(of id: UUID) throws {
    try transaction { tables in
      guard var item = tables.items[id] else { throw AnnotationError.notFound(id) }
      guard item.cloud != nil else { return tables.removeTree(id) }
      item.mine = nil
      item.dispute = nil
      item.refusal = nil
      item.isPurged = false
      tables.put(item, waits: nil)
    }
    sweepMedia()
  }
}
