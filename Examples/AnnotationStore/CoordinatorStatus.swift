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
