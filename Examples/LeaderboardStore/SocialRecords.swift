import CloudSync
import Foundation

/// How the three records are named, written and read.
///
/// Fields as in the rows L of Docs/Stores.md.
enum SocialRecords {
  static let profileType: CKRecord.RecordType = "UserProfile"
  static let scoreType: CKRecord.RecordType = "DailyScore"
  static let friendType: CKRecord.RecordType = "FriendConnection"

  static func profileName(_ user: String) -> String { "profile-\(user)" }
  static func friendName(_ code: String) -> String { "friend-\(code)" }

  /// What a record's name says it is about.
  enum Name: Hashable {
    case profile(user: String)
    case friend(code: String)
    case score(id: String)
    case share
    case other

    init(_ name: String) {
      if name == CKRecordNameZoneWideShare {
        self = .share
      } else if name.hasPrefix("profile-") {
        self = .profile(user: String(name.dropFirst(8)))
      } else if name.hasPrefix("friend-") {
        self = .friend(code: String(name.dropFirst(7)))
      } else if name.hasPrefix("score-") {
        self = .score(id: name)
      } else {
        self = .other
      }
    }
  }

  static func write(_ profile: UserProfile, onto record: CKRecord) {
    record["id"] = profile.id
    record["displayName"] = profile.displayName
    record["friendCode"] = profile.friendCode
    record["createdAt"] = profile.createdAt
    record["updatedAt"] = profile.updatedAt
  }

  static func write(_ friend: FriendConnection, onto record: CKRecord) {
    record["friendCode"] = friend.friendCode
    record["addedAt"] = friend.addedAt
  }

  static func write(_ score: DailyScore, onto record: CKRecord) {
    record["id"] = score.id
    record["userId"] = score.userId
    record["gameId"] = score.gameId
    record["dateInt"] = Int64(score.dateInt)
    record["score"] = score.score.map { Int64($0) }
    record["maxAttempts"] = Int64(score.maxAttempts)
    record["completed"] = score.completed ? Int64(1) : Int64(0)
    record["publishedAt"] = score.publishedAt
  }

  /// Reads a profile; missing fields get their defaults.
  static func profile(_ record: CKRecord) -> UserProfile? {
    guard record.recordType == profileType,
      case .profile(let user) = Name(record.recordID.recordName)
    else { return nil }
    let created = record["createdAt"] as? Date ?? record.creationDate ?? .distantPast
    return UserProfile(
      id: user, displayName: record["displayName"] as? String ?? "Somebody",
      friendCode: record["friendCode"] as? String ?? "", createdAt: created,
      updatedAt: record["updatedAt"] as? Date ?? created)
  }

  /// Reads a connection; one whose code is no code makes no sense here.
  static func friend(_ record: CKRecord) -> FriendConnection? {
    guard record.recordType == friendType,
      case .friend(let code) = Name(record.recordID.recordName),
      (try? FriendCode(code))?.text == code
    else { return nil }
    return FriendConnection(
      friendCode: code,
      addedAt: record["addedAt"] as? Date ?? record.creationDate ?? .distantPast)
  }

  /// Reads a score; missing fields get their defaults, but person, game and day must be there and
  /// agree with the record's name.
  static func score(_ record: CKRecord) -> DailyScore? {
    guard record.recordType == scoreType, let user = record["userId"] as? String,
      let game = record["gameId"] as? String, let day = record["dateInt"] as? Int64,
      let day = Int(exactly: day), DailyScore.isGame(game), DailyScore.isDay(day)
    else { return nil }
    let score = DailyScore(
      userId: user, gameId: game, dateInt: day,
      score: (record["score"] as? Int64).map { Int(clamping: $0) },
      maxAttempts: Int(clamping: record["maxAttempts"] as? Int64 ?? 0),
      completed: (record["completed"] as? Int64 ?? 0) != 0,
      publishedAt: record["publishedAt"] as? Date ?? record.modificationDate ?? .distantPast)
    return score.id == record.recordID.recordName ? score : nil
  }
}
