public import Foundation

/// One line of the store's log; it names results by their IDs and shows none of their content.
public struct SyncLogEntry: Hashable, Sendable {
  /// How bad it is.
  public enum Level: String, Hashable, Sendable {
    /// Something worth knowing.
    case info
    /// Something that was settled, but not as everybody may have wished.
    case warning
    /// Something that is not settled.
    case error
  }

  /// When it happened.
  public var date: Date
  /// How bad it is.
  public var level: Level
  /// What happened, in one sentence.
  public var message: String
}
