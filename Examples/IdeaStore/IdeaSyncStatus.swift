public import Foundation
public import SyncSupport

/// A snapshot of everything about the sync of ideas that a person may want to know.
public struct IdeaSyncStatus: Hashable, Sendable {
  /// Where sync stands.
  public enum Phase: String, Hashable, Sendable {
    /// No sync was tried since the start.
    case waiting
    /// A sync is under way.
    case syncing
    /// The last sync succeeded.
    case synced
    /// There is no network, or nobody is signed in.
    case offline
    /// The last sync failed.
    case failed
  }

  /// Where sync stands.
  public var phase = Phase.waiting
  /// What kind of error the last sync met.
  public var code: CKError.Code?
  /// What to tell about it.
  public var message: String?
  /// How long until it is tried again by itself; `nil` when something has to happen first.
  public var nextAttempt: Duration?
  /// How many ideas and deletions the cloud has not confirmed.
  public var pending = 0
  /// How many of them are not sent, because the cloud refuses them or a newer version of the app
  /// changed them.
  public var heldBack = 0
  /// How many records a newer version of the app wrote; they are kept, not shown.
  public var unreadable = 0
  /// Whether uploads stand still until the person made space.
  public var isStorageFull = false
  /// How many times two versions of an idea met since the start.
  public var conflicts = 0
  /// How many changes the cloud took since the start.
  public var sent = 0
  /// How many changes of other devices were taken in since the start.
  public var received = 0
  /// When a sync last succeeded, here or in an earlier run.
  public var lastSync: Date?
  /// What was damaged and set aside when the store opened.
  public var damage: String?
}

/// What made a sync happen: the design's retry triggers, and what happens anyway.
public enum IdeaSyncTrigger: String, Hashable, Sendable, CaseIterable {
  /// An idea was made, changed or deleted here.
  case localChange
  /// A person asked: everything is compared, and what was given up is tried again.
  case byHand
  /// A push came.
  case push
  /// The network is back.
  case networkRecovered
  /// The app came to the foreground.
  case enteredForeground
  /// It was time again.
  case scheduled
}
