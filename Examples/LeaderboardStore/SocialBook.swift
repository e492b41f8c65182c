import CloudSync
import Foundation
import SyncSupport

/// A value and what is known of its record.
struct Kept<Value: SocialValue>: Codable, Hashable, Sendable {
  var value: Value
  /// The record's system fields as last seen; `nil` when the cloud does not have it.
  var systemFields: Data?
  /// Whether the cloud has not confirmed this value.
  var isUnsent = false

  /// The record to send; `nil` when the cloud has this value.
  func record(_ id: CKRecord.ID) -> CKRecord? {
    guard isUnsent else { return nil }
    let record = CKRecord.known(systemFields, id: id, type: Value.recordType)
    value.copy(onto: record)
    return record
  }

  /// Notes that the cloud has lost the record.
  mutating func resend() {
    systemFields = nil
    isUnsent = true
  }
}

/// What the cloud did with the record of one kept value.
enum KeptChange {
  /// It has this version now; a value that changed meanwhile is still unsent.
  case confirmed(CKRecord)
  /// It has lost the record.
  case lost
  /// Another device deleted the record.
  case removed
}

extension Optional {
  mutating func apply<Value>(_ change: KeptChange) where Wrapped == Kept<Value> {
    switch change {
    case .confirmed(let record):
      self?.systemFields = record.systemFields
      if let value = self?.value { self?.isUnsent = value != Value(record) }
    case .lost: self?.resend()
    case .removed: self = nil
    }
  }
}

/// A leaderboard as this device knows it.
struct Board: Codable, Hashable, Sendable {
  var zoneName: String
  /// The owner's user name; `nil` when it is the signed-in person's own.
  var owner: String?
  var title = ""
  var url: URL?
  var isOpen = false
  var mayWrite = true
  var members: [SharedLeaderboard.Member] = []
  var scores: [String: Kept<DailyScore>] = [:]
  var profiles: [String: Kept<UserProfile>] = [:]

  var scope: CKDatabase.Scope { owner == nil ? .private : .shared }

  var zoneID: CKRecordZone.ID {
    CKRecordZone.ID(zoneName: zoneName, ownerName: owner ?? CKCurrentUserDefaultName)
  }

  var id: String { String(zoneName.dropFirst(LeaderboardZones.prefix.count)) }

  func recordID(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zoneID)
  }
}

/// Everything of one account on one device, in one file: values, tags and what is unsent change
/// together.
///
/// What belongs to the shared database has an owner's name of its own, because each database's
/// engine hears of a new account by itself.
struct SocialBook: Codable, Hashable, Sendable {
  /// Whose private database this is.
  var owner: String?
  /// Whose shared database this is.
  var sharedOwner: String?
  var profile: Kept<UserProfile>?
  var friends: [String: Kept<FriendConnection>] = [:]
  /// Codes still to be deleted in the cloud.
  var goneFriends: Set<String> = []
  /// The person's own scores.
  var scores: [String: Kept<DailyScore>] = [:]
  /// Leaderboards by ``key(_:_:)``.
  var boards: [String: Board] = [:]
  var lastSync: Date?

  static func key(_ zone: CKRecordZone.ID, _ scope: CKDatabase.Scope) -> String {
    scope == .shared ? "\(zone.ownerName)/\(zone.zoneName)" : zone.zoneName
  }

  static func socialID(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: LeaderboardZones.social)
  }

  /// Whether own scores may go into leaderboards of the shared database.
  private var isOnePerson: Bool { owner != nil && owner == sharedOwner }

  // MARK: What the person does

  /// Takes a new or better score; answers whether anything changed.
  mutating func publish(_ score: DailyScore, _ scoring: LeaderboardScoring) -> Bool {
    let known = scores[score.id]
    let joined = known.map { scoring.joined($0.value, score) } ?? score
    guard joined != known?.value else { return false }
    scores[score.id] = Kept(value: joined, systemFields: known?.systemFields, isUnsent: true)
    return true
  }

  /// Copies the person's scores and profile into the leaderboards that lack them.
  ///
  /// - Parameters:
  ///   - names: the scores to look at; `nil` for all.
  ///   - keys: the leaderboards to look at; `nil` for all.
  mutating func spread(
    _ names: [String]? = nil, into keys: [String]? = nil, _ scoring: LeaderboardScoring
  ) {
    guard let owner else { return }
    for key in keys ?? boards.keys.sorted() {
      // Taken out and put back, so that its dictionaries are changed in place.
      guard var board = boards.removeValue(forKey: key) else { continue }
      defer { boards[key] = board }
      guard board.mayWrite, board.owner == nil || isOnePerson else { continue }
      for name in names ?? Array(scores.keys) {
        guard let mine = scores[name]?.value else { continue }
        let known = board.scores[name]
        let joined = known.map { scoring.joined($0.value, mine) } ?? mine
        guard joined != known?.value else { continue }
        board.scores[name] = Kept(
          value: joined, systemFields: known?.systemFields, isUnsent: true)
      }
      if let mine = profile?.value, board.profiles[owner]?.value != mine {
        board.profiles[owner] = Kept(
          value: mine, systemFields: board.profiles[owner]?.systemFields, isUnsent: true)
      }
    }
  }

  // MARK: What is unsent

  /// Everything unsent in a database, in an order every run repeats.
  func unsent(in scope: CKDatabase.Scope) -> [RecordWish] {
    var wishes: [RecordWish] = []
    if scope == .private {
      var names = scores.filter(\.value.isUnsent).map(\.key)
      names += friends.filter(\.value.isUnsent).map { SocialRecords.friendName($0.key) }
      if let profile, profile.isUnsent { names.append(SocialRecords.profileName(profile.value.id)) }
      if !names.isEmpty, !hasZone { wishes.append(.saveZone(LeaderboardZones.social)) }
      wishes += names.sorted().map { .save(Self.socialID($0)) }
      wishes += goneFriends.sorted().map { .delete(Self.socialID(SocialRecords.friendName($0))) }
    }
    for (_, board) in boards.sorted(by: { $0.key < $1.key })
    where board.scope == scope && board.mayWrite {
      var names = board.scores.filter(\.value.isUnsent).map(\.key)
      names += board.profiles.filter(\.value.isUnsent).map { SocialRecords.profileName($0.key) }
      wishes += names.sorted().map { .save(board.recordID($0)) }
    }
    return wishes
  }

  /// Whether anything of the person's own zone was ever seen in the cloud.
  private var hasZone: Bool {
    profile?.systemFields != nil || friends.values.contains { $0.systemFields != nil }
      || scores.values.contains { $0.systemFields != nil }
  }

  /// The record to send, or `nil` when there is nothing to send any more.
  func record(_ id: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord? {
    let board = boards[Self.key(id.zoneID, scope)]
    guard board?.mayWrite ?? (id.zoneID.zoneName == LeaderboardZones.social.zoneName) else {
      return nil
    }
    switch SocialRecords.Name(id.recordName) {
    case .profile(let user):
      let kept = board == nil ? profile : board?.profiles[user]
      return kept?.value.id == user ? kept?.record(id) : nil
    case .friend(let code): return board == nil ? friends[code]?.record(id) : nil
    case .score(let name):
      return (board == nil ? scores[name] : board?.scores[name])?.record(id)
    case .share, .other: return nil
    }
  }
}
