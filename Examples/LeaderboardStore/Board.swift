import Foundation
import SyncedStore

/// A leaderboard as this device knows it: a zone of one of the stores.
struct Board: Sendable {
  let store: SyncedStore
  let zoneID: CKRecordZone.ID
  /// The share as last seen.
  let share: CKShare?
  /// The signed-in person.
  let me: String?

  var id: String { LeaderboardZones.id(of: zoneID) }
  var isMine: Bool { zoneID.ownerName == CKCurrentUserDefaultName }
  var key: String { isMine ? zoneID.zoneName : "\(zoneID.ownerName)/\(zoneID.zoneName)" }
  var title: String { share?[CKShare.SystemFieldKey.title] as? String ?? "" }
  var mayWrite: Bool { isMine || share?.currentUserParticipant?.permission == .readWrite }

  /// The values that were written by their own persons.
  private func values<Value: SocialValue>(_ type: Value.Type) -> [Value] {
    store.items(Signed<Value>.self, in: zoneID).filter { $0.isGenuine(me) }.map(\.value)
  }

  var scores: [DailyScore] { values(DailyScore.self) }
  var profiles: [UserProfile] { values(UserProfile.self) }

  /// All members; `names` has the names of those who have one.
  func members(_ names: [String: String] = [:]) -> [SharedLeaderboard.Member] {
    (share?.participants ?? []).map { person in
      let name = person.userIdentity.userRecordID?.recordName
      let user = name == CKCurrentUserDefaultName ? me : name
      return SharedLeaderboard.Member(
        userId: user, displayName: user.flatMap { names[$0] },
        hasJoined: person.acceptanceStatus == .accepted, isOwner: person.role == .owner,
        mayWrite: person.permission == .readWrite)
    }
  }

  /// The leaderboard as it is shown to people.
  var leaderboard: SharedLeaderboard {
    let names = UserProfile.newest(profiles) { $0.id }.mapValues(\.displayName)
    return SharedLeaderboard(
      id: id, title: title, url: share?.url,
      isOpen: share.map { $0.publicPermission != .none } ?? false, isMine: isMine,
      members: members(names), scoreCount: scores.count)
  }

  /// Deletes what a person published here.
  ///
  /// - Returns: the records.
  func remove(_ person: String) throws -> [CKRecord.ID] {
    try store.change { change in
      let scores = change.items(Signed<DailyScore>.self, in: zoneID)
        .filter { $0.value.userId == person }.map(\.recordName)
      for name in scores { change.delete(Signed<DailyScore>.self, named: name, in: zoneID) }
      let profile = UserProfile.recordName(of: person)
      change.delete(Signed<UserProfile>.self, named: profile, in: zoneID)
      return (scores + [profile]).map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
    }
  }
}

extension UserProfile {
  /// The newest profile for each key, of equally new ones the greater name: a person has a copy in
  /// every leaderboard, and their order must not choose.
  static func newest(
    _ profiles: [UserProfile], _ key: (UserProfile) -> String
  ) -> [String: UserProfile] {
    Dictionary(profiles.map { (key($0), $0) }) { first, second in
      (first.updatedAt, first.displayName) < (second.updatedAt, second.displayName)
        ? second : first
    }
  }
}
