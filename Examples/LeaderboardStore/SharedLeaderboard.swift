public import Foundation
public import SyncedStore

/// A leaderboard that several people write their scores into: a zone of its owner's, shared.
public struct SharedLeaderboard: Hashable, Sendable, Identifiable {
  /// A person in the leaderboard.
  public struct Member: Hashable, Sendable, Codable {
    /// Who it is; `nil` for somebody who did not come yet and whom only the owner may know.
    public var userId: String?
    /// What they are called, once they published anything.
    public var displayName: String?
    /// Whether they joined, and not only were invited.
    public var hasJoined: Bool
    /// Whether it is theirs.
    public var isOwner: Bool
    /// Whether they may publish into it.
    public var mayWrite: Bool
  }

  /// Names it on this device and for its owner: the zone's name without its prefix.
  public var id: String
  /// What people call it.
  public var title: String
  /// Where it can be joined; `nil` when it is not shared.
  public var url: URL?
  /// Whether everybody with the link may join, and not only who was invited.
  public var isOpen: Bool
  /// Whether it belongs to the signed-in person.
  public var isMine: Bool
  /// Everybody in it, its owner first.
  public var members: [Member]
  /// How many scores it holds.
  public var scoreCount: Int
}

/// Where leaderboards live in the cloud.
public enum LeaderboardZones {
  /// The private zone of the person's profile, friends and own scores.
  public static let social = CKRecordZone.ID(zoneName: "SocialZone")
  /// How the zones of shared leaderboards begin.
  public static let prefix = "Leaderboard-"

  static func isLeaderboard(_ zone: CKRecordZone.ID) -> Bool {
    zone.zoneName.hasPrefix(prefix)
  }

  /// The ID of the leaderboard in a zone.
  static func id(of zone: CKRecordZone.ID) -> String {
    String(zone.zoneName.dropFirst(prefix.count))
  }
}
