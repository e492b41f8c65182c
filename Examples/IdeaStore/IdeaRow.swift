public import Foundation
import SyncSupport

/// How one idea stands with the cloud.
public struct IdeaSyncState: Hashable, Sendable {
  /// Whether the cloud has not confirmed the idea as it is.
  public var isPendingSync: Bool

  /// The version the cloud has; `nil` while it has none.
  public var remoteVersion: Int?

  /// When this device and the cloud last agreed on the idea.
  public var lastSyncedAt: Date?

  /// Why it is neither sent nor brought up to date; `nil` when all is well.
  public var heldBack: String?
}

/// What the store keeps of one record: the idea, its state of deletion, and how it stands with
/// the cloud.
struct IdeaRow: Codable, Hashable, Sendable {
  var name: String
  /// The idea; `nil` for a record that this version of the app can't read.
  var idea: Idea?
  /// When it was deleted; a deleted idea is kept, marked.
  var deletedAt: Date?
  /// Whether this device deleted it, and so knows when that was.
  var isDeletedHere = false
  /// Whether the cloud has not confirmed the idea, or its deletion.
  var isPending = false
  /// Tells this change from earlier and later ones; ascending, in the order of changes.
  var changeNumber: UInt64 = 0
  var remoteVersion: Int?
  /// When this device and the cloud last agreed.
  var lastSyncedAt: Date?
  /// The record's tag in the cloud; `nil` when the cloud has no such record.
  var tag: String?
  /// The record as last seen: its system fields, and all of it if it has unknown fields or can't be
  /// read.
  var archive: Data?
  /// Why the cloud's record can't be read by this version; it is kept and not shown.
  var unreadable: String?

  /// Whether people see it.
  ///
  /// What waits to be sent stays visible though the cloud's version can't be read.
  var isVisible: Bool {
    idea != nil && deletedAt == nil && (unreadable == nil || isPending)
  }

  /// Whether it is to be sent and may be.
  var isToBeSent: Bool { isPending && unreadable == nil }

  var recordID: CKRecord.ID { CKRecord.ID(recordName: name, zoneID: IdeaRecord.zoneID) }

  var state: IdeaSyncState {
    IdeaSyncState(
      isPendingSync: isPending, remoteVersion: remoteVersion, lastSyncedAt: lastSyncedAt,
      heldBack: isPending ? unreadable : nil)
  }
}
