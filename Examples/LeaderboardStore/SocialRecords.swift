import CloudSync
import Foundation

/// A value that is one record.
///
/// Fields as in the rows L of Docs/Stores.md.
protocol SocialValue: Codable, Hashable, Sendable {
  static var recordType: CKRecord.RecordType { get }
  /// Reads a record; `nil` when it makes no sense here.
  init?(_ record: CKRecord)
  /// Copies the fields onto `record`; other fields of the record stay.
  func copy(onto record: CKRecord)
}

/// The names of the records.
enum SocialRecords {
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
}

extension UserProfile: SocialValue {
  static let recordType: CKRecord.RecordType = "UserProfile"

  /// Reads a profile; missing fields get their defaults.
  init?(_ record: CKRecord) {
    guard record.recordType == Self.recordType,
      case .profile(let user) = SocialRecords.Name(record.recordID.recordName)
    else { return nil }
    let created = record["createdAt"] as? Date ?? record.creationDate ?? .distantPast
    self.init(
      id: user, displayName: record["displayName"] as? String ?? "Somebody",
      friendCode: record["friendCode"] as? String ?? "", createdAt: created,
      updatedAt: record["updatedAt"] as? Date ?? created)
  }

  func copy(onto record: CKRecord) {
    record["id"] = id
    record["displayName"] = displayName
    record["friendCode"] = friendCode
    record["createdAt"] = createdAt
    record["updatedAt"] = updatedAt
  }
}

extension FriendConnection: SocialValue {
  static let recordType: CKRecord.RecordType = "FriendConnection"

  /// Reads a connection; one whose code is no code makes no sense here.
  init?(_ record: CKRecord) {
    guard record.recordType == Self.recordType,
      case .friend(let code) = SocialRecords.Name(record.recordID.recordName),
      (try? FriendCode(code))?.text == code
    else { return nil }
    self.init(
      friendCode: code,
      addedAt: record["addedAt"] as? Date ?? record.creationDate ?? .distantPast)
  }

  func copy(onto record: CKRecord) {
    record["friendCode"] = friendCode
    record["addedAt"] = addedAt
  }
}

extension DailyScore: SocialValue {
  static let recordType: CKRecord.RecordType = "DailyScore"

  /// Reads a score; missing fields get their defaults, but person, game and day must be there and
  /// agree with the record's name.
  init?(_ record: CKRecord) {
    guard record.recordType == Self.recordType, let user = record["userId"] as? String,
      let game = record["gameId"] as? String, let day = record["dateInt"] as? Int64,
      let day = Int(exactly: day), DailyScore.isGame(game), DailyScore.isDay(day)
    else { return nil }
    self.init(
      userId: user, gameId: game, dateInt: day,
      score: (record["score"] as? Int64).map { Int(clamping: $0) },
      maxAttempts: Int(clamping: record["maxAttempts"] as? Int64 ?? 0),
      completed: (record["completed"] as? Int64 ?? 0) != 0,
      publishedAt: record["publishedAt"] as? Date ?? record.modificationDate ?? .distantPast)
    guard id == record.recordID.recordName else { return nil }
  }

  func copy(onto record: CKRecord) {
    record["id"] = id
    record["userId"] = userId
    record["gameId"] = gameId
    record["dateInt"] = Int64(dateInt)
    record["score"] = score.map { Int64($0) }
    record["maxAttempts"] = Int64(maxAttempts)
    record["completed"] = completed ? Int64(1) : Int64(0)
    record["publishedAt"] = publishedAt
  }
}
