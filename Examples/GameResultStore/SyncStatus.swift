public import Foundation
public import SyncSupport

/// Where sync stands, as a person is shown it.
public enum SyncState: Hashable, Sendable {
  /// A sync is under way.
  case syncing
  /// The last sync succeeded.
  case synced(lastSyncDate: Date)
  /// The last sync failed.
  case failed(SyncFailure)
  /// The cloud can't be reached, or nobody is signed in.
  case offline
}

/// A snapshot of everything about sync that a person may want to know.
public struct SyncStatus: Hashable, Sendable {
  /// Where sync stands.
  public var state: SyncState

  /// What to tell about a failure or being offline; `nil` when all is well or handled silently.
  public var message: String?

  /// Changes the cloud has not confirmed.
  public var waiting = 0

  /// Changes the cloud refuses for good; they stay here and are tried again by "sync now".
  public var refused = 0

  /// Whether uploads stand still until the person has made space.
  public var isStorageFull = false

  /// Conflicts settled since the start.
  public var conflicts = 0

  /// When sync last succeeded for this account, here or in an earlier run.
  public var lastSync: Date?

  /// Whether a sync of this account ever succeeded, so that an empty list means something.
  public var hasSyncedBefore: Bool { lastSync != nil }

  /// What to show where results would be, when there are none.
  ///
  /// "No results yet" is a claim about the cloud too, so it is never made before a first sync
  /// ended. After a failure it says instead that what is shown is only what this device has.
  public var emptyText: String {
    switch state {
    case .failed, .offline: notice ?? "Using offline data"
    case .syncing: hasSyncedBefore ? "No results yet" : "Syncing your data..."
    case .synced: "No results yet"
    }
  }

  /// The line above the results after a failure; `nil` when there is nothing to tell.
  public var notice: String? {
    switch state {
    case .failed, .offline: message.map { "\($0) Using offline data" } ?? "Using offline data"
    case .syncing, .synced: nil
    }
  }
}
