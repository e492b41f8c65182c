public import Foundation

/// What drives a store's syncs: in the background, and when a person asks.
public protocol SyncCoordinator: AnyObject, Sendable {
  /// Begins to sync: now, and then every so often; a second call does nothing.
  func startSync() async

  /// Ends it. Returns when nothing is under way any more; a second call does nothing.
  func stopSync() async

  /// Syncs now, whatever was refused before.
  ///
  /// - Throws: what stood in the way; the status says it too.
  func syncNow() async throws

  /// Takes an item as a person left it, and sends it with the next sync.
  ///
  /// - Throws: `AnnotationError` when it can't be changed, `FileError` when it can't be written
  ///   down.
  func queueForSync<Item: Syncable>(_ item: Item) async throws

  /// Where sync stands.
  var syncStatus: CoordinatorStatus { get }

  /// When the last sync succeeded; `nil` before the first.
  var lastSyncTime: Date? { get }
}

/// Where a coordinator stands.
public enum CoordinatorStatus: Sendable, CustomStringConvertible {
  /// Nothing is under way, and the last sync went well.
  case idle
  /// A sync is under way.
  case syncing
  /// The last sync failed.
  case error(any Error)
  /// There is no network; syncing goes on by itself when it is back.
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
