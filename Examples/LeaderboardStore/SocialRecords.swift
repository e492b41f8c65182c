import Foundation
public import SyncedStore

/// The part of a social value that becomes a record.
///
/// Fields as in the rows L of Docs/Stores.md.
protocol SocialValue: Codable, Hashable, Sendable {
  static var recordType: CKRecord.RecordType { get }
  var recordName: String { get }
  /// The user whose value it is.
  var person: String { get }
  /// Reads a record; `nil` if a field or the record's name makes no sense.
  init?(_ record: CKRecord)
  /// Copies the fields onto `record`; other fields of the record stay.
  func copy(to record: CKRecord)
}

/// A value of a person with the user who wrote its last version.
///
/// In a shared leaderboard everybody can write every record, so a value counts only if its own
/// person wrote it.
struct Signed<Value: SocialValue>: SyncedItem {
  /// The person of values that were made on this device while nobody was signed in.
  static var nobody: String { "local" }

  var value: Value
  /// The name of the user record, `CKCurrentUserDefaultName` for the signed-in person's.
  var writer = CKCurrentUserDefaultName
  /// Whether it is a copy in a leaderboard.
  var isCopy = false

  static var recordType: CKRecord.RecordType { Value.recordType }
  var recordName: String { value.recordName }
  var isSynced: Bool { value.person != Self.nobody }
  var isMine: Bool { writer == CKCurrentUserDefaultName }

  init(_ value: Value, isCopy: Bool = false) {
    self.value = value
    self.isCopy = isCopy
  }

  init?(_ record: CKRecord) {
    guard let value = Value(record), value.recordName == record.recordID.recordName else {
      return nil
    }
    self.init(value, isCopy: record.recordID.zoneID != LeaderboardZones.social)
    writer = record.lastModifiedUserRecordID?.recordName ?? CKCurrentUserDefaultName
  }

  func copy(to record: CKRecord) { value.copy(to: record) }

  /// Whether the person wrote the value, if `me` is signed in.
  func isGenuine(_ me: String?) -> Bool { (isMine ? me : writer) == value.person }

  /// Describes the type for a store.
  ///
  /// - Parameters:
  ///   - restoresOwn: whether the person's own value is saved again after a deletion.
  ///   - join: merges two versions of the person's own value.
  static func type(
    restoresOwn: Bool,
    join: @escaping @Sendable (_ mine: Value, _ theirs: Value, _ isUnsent: Bool) -> Value
  ) -> SyncedType {
    SyncedType(
      Self.self,
      merging: MergePolicy(mergesAlways: true) { conflict in
        let mine = conflict.mine
        switch conflict.server {
        case .deleted: return restoresOwn && !mine.isCopy ? .mine : .server
        case .unreadable: return conflict.isUnsent ? .mine : .server
        case .item(let theirs):
          guard mine.isMine else { return .server }
          // The person's own value is put right if somebody else wrote it.
          guard theirs.isMine else { return theirs.isGenuine(nil) ? .server : .mine }
          let joined = join(mine.value, theirs.value, conflict.isUnsent)
          return .merged(Signed(joined, isCopy: mine.isCopy))
        }
      })
  }
}

extension UserProfile: SocialValue {
  static let recordType: CKRecord.RecordType = "UserProfile"
  private static let prefix = "profile-"
  static func recordName(of user: String) -> String { prefix + user }
  var recordName: String { Self.recordName(of: id) }
  var person: String { id }

  /// Reads a profile; missing fields get their defaults.
  init?(_ record: CKRecord) {
    let name = record.recordID.recordName
    guard name.hasPrefix(Self.prefix) else { return nil }
    let created = record["createdAt"] as? Date ?? record.creationDate ?? .distantPast
    self.init(
      id: String(name.dropFirst(Self.prefix.count)),
      displayName: record["displayName"] as? String ?? "Somebody",
      friendCode: record["friendCode"] as? String ?? "", createdAt: created,
      updatedAt: record["updatedAt"] as? Date ?? created)
  }

  func copy(to record: CKRecord) {
    record["id"] = id
    record["displayName"] = displayName
    record["friendCode"] = friendCode
    record["createdAt"] = createdAt
    record["updatedAt"] = updatedAt
  }

  /// The server's profile with the name that was chosen on this device and is not sent yet.
  static func joined(_ mine: UserProfile, _ theirs: UserProfile, isUnsent: Bool) -> UserProfile {
    var joined = theirs
    if isUnsent, mine.hasChosenName, mine.displayName != theirs.displayName {
      joined.displayName = mine.displayName
      joined.updatedAt = mine.updatedAt
    }
    return joined
  }
}

extension FriendConnection: SyncedItem {
  /// The type of the records.
  public static let recordType: CKRecord.RecordType = "FriendConnection"
  private static let prefix = "friend-"
  static func recordName(of code: String) -> String { prefix + code }

  /// The name of the record.
  public var recordName: String { Self.recordName(of: friendCode) }

  /// Reads a connection; `nil` if its code is no code.
  public init?(_ record: CKRecord) {
    let name = record.recordID.recordName
    guard name.hasPrefix(Self.prefix), let code = try? FriendCode(String(name.dropFirst(7))),
      Self.recordName(of: code.text) == name
    else { return nil }
    self.init(
      friendCode: code.text,
      addedAt: record["addedAt"] as? Date ?? record.creationDate ?? .distantPast)
  }

  /// Copies the fields onto `record`.
  public func copy(to record: CKRecord) {
    record["friendCode"] = friendCode
    record["addedAt"] = addedAt
  }
}

extension DailyScore: SocialValue {
  static let recordType: CKRecord.RecordType = "DailyScore"
  var recordName: String { id }
  var person: String { userId }

  /// Reads a score; missing fields get their defaults, but person, game and day must be there.
  init?(_ record: CKRecord) {
    guard let user = record["userId"] as? String, let game = record["gameId"] as? String,
      let day = (record["dateInt"] as? Int64).flatMap({ Int(exactly: $0) }),
      DailyScore.isGame(game), DailyScore.isDay(day)
    else { return nil }
    self.init(
      userId: user, gameId: game, dateInt: day,
      score: (record["score"] as? Int64).map { Int(clamping: $0) },
      maxAttempts: Int(clamping: record["maxAttempts"] as? Int64 ?? 0),
      completed: (record["completed"] as? Int64 ?? 0) != 0,
      publishedAt: record["publishedAt"] as? Date ?? record.modificationDate ?? .distantPast)
  }

  func copy(to record: CKRecord) {
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
