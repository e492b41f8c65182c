public import Foundation
public import SyncSupport

/// A snapshot of everything about the sync of achievements that a person may want to know.
public struct AchievementStatus: Hashable, Sendable {
  /// Whether the person wants sync.
  public var isEnabled: Bool
  /// Why the last pass did not succeed; `nil` when it did, or there was none.
  public var failure: SyncFailure?
  /// Whether there is something the cloud does not have.
  public var isUnsent: Bool
  /// When a pass last succeeded for this account.
  public var lastSync: Date?
  /// When any device last pushed, as its clock said.
  public var lastUpdated: Date?
  /// How often news from the cloud changed something here since the start.
  public var merges: Int
  /// The version of a record that this app is too old for; `nil` when there is none.
  public var newerVersion: Int?
  /// How many achievements are kept for a newer version that understands them.
  public var unreadCount: Int
  /// What else there is to tell, such as a damaged file that was set aside.
  public var notices: [String]

  /// Where sync stands, in one line for people.
  public var text: String {
    if !isEnabled { return "Off. Achievements stay on this device." }
    if let newerVersion {
      return "A newer version of the app wrote the achievements (version \(newerVersion)). "
        + "Update this app to sync; nothing is lost meanwhile."
    }
    if let failure {
      return failure.message.map { "\($0) Achievements are kept on this device." }
        ?? "Sync again later."
    }
    if isUnsent { return "Waiting to be sent." }
    return lastSync == nil ? "Not synced yet." : "Synced."
  }
}
