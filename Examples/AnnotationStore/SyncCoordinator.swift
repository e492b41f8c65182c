public import Foundation

/// Controls the syncs of a store: in the background, and on request.
public protocol SyncCoordinator: AnyObject, Sendable {
  /// Starts to sync: now, and then at intervals; a second call does nothing.
  func startSync() async

  /// Stops. Returns when no sync is in progress any more; a second call does nothing.
  func stopSync() async

  /// Syncs now, also what was refused before.
  ///
  /// - Throws: the error that prevents it, which the status has, too.
  func syncNow() async throws

  /// Stores an item as a user left it; the next sync sends it.
  ///
  /// - Throws: `AnnotationError` if it can't be changed, `FileError` if it can't be stored.
  func queueForSync<Item: Syncable>(_ item: Item) async throws

  /// The present status.
  var syncStatus: CoordinatorStatus { get }

  /// The date of the last successful sync; `nil` before the first.
  var lastSyncTime: Date? { get }
}

/// The status of a coordinator.
public enum CoordinatorStatus: Sendable, CustomStringConvertible {
  /// No sync is in progress, and the last one succeeded.
  case idle
  /// A sync is in progress.
  case syncing
  /// The last sync failed.
  case error(any Error)
  /// There is no network; syncing continues when it returns.
  case offline

  /// One word, so that statuses can be compared.
  public var name: String {
    switch self {
    case .idle: "idle"
    case .syncing: "syncing"
    case .error: "error"
    case .offline: "offline"
    }
  }

  /// The status in words.
  public var description: String {
    if case .error(let error) = self { "error: \(error)" } else { name }
  }
}
