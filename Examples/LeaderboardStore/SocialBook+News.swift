import CloudSync
import Foundation
import SyncSupport

/// What the book makes of news from the cloud: the whole rule, without an engine.
extension SocialBook {
  /// Takes in one piece of news; what is unsent afterwards is asked of ``unsent(in:)`` for the
  /// records named here.
  ///
  /// - Returns: what to send or to drop because of it.
  mutating func take(
    _ news: RecordNews, in scope: CKDatabase.Scope, _ scoring: LeaderboardScoring
  ) -> [RecordWish] {
    switch news {
    case .signedIn(let user): return signedIn(user.recordName, scope, scoring)
    case .signedOut:
      forget(scope)
      return []
    case .switched(let user):
      forget(scope)
      return signedIn(user.recordName, scope, scoring)
    case .zoneGone(let zone, let reason): return zoneGone(zone, reason, scope)
    case .zonePurged(let zone): return zoneGone(zone, .purged, scope)
    case .zoneRead(let zone, let records):
      sweep(zone, scope, holds: records)
      return []
    case .zoneMissing(let zone):
      if zone.zoneName == LeaderboardZones.social.zoneName { return sendAnew() }
      boards[Self.key(zone, scope)] = nil
      return []
    case .fetched(let record), .conflict(let record):
      return take(record, scope, scoring)
    case .saved(let record):
      apply(.confirmed(record), to: record.recordID, scope)
      return self.record(record.recordID, in: scope) == nil ? [] : [.save(record.recordID)]
    case .removed(let id, _): return removed(id, scope)
    case .vanished(let id):
      apply(.lost, to: id, scope)
      return [.save(id)]
    case .deleted(let id):
      if case .friend(let code) = SocialRecords.Name(id.recordName) { goneFriends.remove(code) }
      return []
    case .zoneExists, .zoneRefused, .postponed, .refused: return []
    }
  }

  // MARK: Accounts

  private mutating func signedIn(
    _ user: String, _ scope: CKDatabase.Scope, _ scoring: LeaderboardScoring
  ) -> [RecordWish] {
    let before = scope == .shared ? sharedOwner : owner
    if let before, before != user { forget(scope) }
    if scope == .shared { sharedOwner = user } else { owner = user }
    spread(nil, into: nil, scoring)
    return unsent(in: scope)
  }

  /// Removes what the account that was has in a database.
  mutating func forget(_ scope: CKDatabase.Scope) {
    boards = boards.filter { $0.value.scope != scope }
    guard scope != .shared else {
      sharedOwner = nil
      return
    }
    owner = nil
    profile = nil
    friends = [:]
    goneFriends = []
    scores = [:]
    lastSync = nil
  }

  // MARK: Zones

  private mutating func zoneGone(
    _ zone: CKRecordZone.ID, _ reason: CKDatabase.DatabaseChange.Deletion.Reason,
    _ scope: CKDatabase.Scope
  ) -> [RecordWish] {
    guard scope == .private, zone.zoneName == LeaderboardZones.social.zoneName else {
      // A leaderboard ends with its zone: deleted by its owner, or no longer shared with us.
      boards[Self.key(zone, scope)] = nil
      return []
    }
    switch reason {
    case .encryptedDataReset: return sendAnew()
    case .deleted, .purged:
      let made = scores.filter { $0.value.isUnsent && $0.value.systemFields == nil }
      profile = nil
      friends = [:]
      goneFriends = []
      scores = made
      return made.isEmpty
        ? []
        : [.saveZone(LeaderboardZones.social)] + made.keys.sorted().map { .save(Self.socialID($0)) }
    }
  }

  /// Sends everything of the person's own zone again: no tag of a zone that is gone is right.
  private mutating func sendAnew() -> [RecordWish] {
    profile?.resend()
    for code in friends.keys { friends[code]?.resend() }
    for name in scores.keys { scores[name]?.resend() }
    goneFriends = []
    return unsent(in: .private)
  }

  /// Forgets what the cloud had and has no more: it was deleted while nobody could say so.
  private mutating func sweep(
    _ zone: CKRecordZone.ID, _ scope: CKDatabase.Scope, holds records: Set<CKRecord.ID>
  ) {
    let names = Set(records.map(\.recordName))
    func isHere<Value>(_ name: String, _ kept: Kept<Value>) -> Bool {
      kept.systemFields == nil || kept.isUnsent || names.contains(name)
    }
    let key = Self.key(zone, scope)
    if var board = boards.removeValue(forKey: key) {
      board.scores = board.scores.filter { isHere($0.key, $0.value) }
      board.profiles = board.profiles.filter {
        isHere(SocialRecords.profileName($0.key), $0.value)
      }
      boards[key] = board
    } else if scope == .private, zone.zoneName == LeaderboardZones.social.zoneName {
      scores = scores.filter { isHere($0.key, $0.value) }
      friends = friends.filter { isHere(SocialRecords.friendName($0.key), $0.value) }
    }
  }

  // MARK: Records

  private mutating func take(
    _ record: CKRecord, _ scope: CKDatabase.Scope, _ scoring: LeaderboardScoring
  ) -> [RecordWish] {
    let zone = record.recordID.zoneID
    if LeaderboardZones.isLeaderboard(zone) {
      return takeShared(record, scope, scoring)
    }
    guard scope == .private, zone.zoneName == LeaderboardZones.social.zoneName else { return [] }
    switch SocialRecords.Name(record.recordID.recordName) {
    case .profile: return takeProfile(record, scoring)
    case .friend(let code):
      guard let theirs = FriendConnection(record), !goneFriends.contains(code) else {
        return []
      }
      // A connection never changes; the cloud's date is everybody's.
      friends[code] = Kept(value: theirs, systemFields: record.systemFields)
      return [.drop(record.recordID)]
    case .score(let name):
      guard let theirs = DailyScore(record), theirs.userId == owner else {
        return leaveAlone(record.recordID)
      }
      let joined = scores[name].map { scoring.joined($0.value, theirs) } ?? theirs
      scores[name] = Kept(
        value: joined, systemFields: record.systemFields, isUnsent: joined != theirs)
      spread([name], into: nil, scoring)
      return (joined != theirs ? [.save(record.recordID)] : [.drop(record.recordID)])
        + copies(of: name)
    case .share, .other: return []
    }
  }

  /// The copies of a score in leaderboards of the private database that wait to be sent.
  ///
  /// Those of the shared database are asked for by that database's own engine.
  private func copies(of name: String) -> [RecordWish] {
    boards.values.filter { $0.scope == .private && $0.scores[name]?.isUnsent == true }
      .sorted { $0.zoneName < $1.zoneName }.map { .save($0.recordID(name)) }
  }

  /// The cloud's code and dates are everybody's; a name that was changed here and is not sent yet
  /// stays.
  private mutating func takeProfile(
    _ record: CKRecord, _ scoring: LeaderboardScoring
  ) -> [RecordWish] {
    guard var theirs = UserProfile(record), theirs.id == owner else { return [] }
    let saved = theirs
    if let mine = profile, mine.isUnsent {
      theirs.displayName = mine.value.displayName
      if theirs.displayName != saved.displayName { theirs.updatedAt = mine.value.updatedAt }
    }
    profile = Kept(
      value: theirs, systemFields: record.systemFields, isUnsent: theirs != saved)
    spread([], into: nil, scoring)
    return (theirs != saved ? [] : [.drop(record.recordID)]) + unsent(in: .private)
  }

  private mutating func takeShared(
    _ record: CKRecord, _ scope: CKDatabase.Scope, _ scoring: LeaderboardScoring
  ) -> [RecordWish] {
    let key = Self.key(record.recordID.zoneID, scope)
    let isNew = boards[key] == nil
    // Taken out and put back, so that its dictionaries are changed in place.
    var board =
      boards.removeValue(forKey: key)
      ?? Board(
        zoneName: record.recordID.zoneID.zoneName,
        owner: scope == .shared ? record.recordID.zoneID.ownerName : nil)
    let me = scope == .shared ? sharedOwner : owner
    switch SocialRecords.Name(record.recordID.recordName) {
    case .share:
      if let share = record as? CKShare { board.take(share, me: me) }
    case .profile(let user):
      if let theirs = UserProfile(record), record.isWritten(by: user, me: me) {
        let mine = board.profiles[user]
        let stays = user == me && mine?.isUnsent == true && mine?.value != theirs
        board.profiles[user] = Kept(
          value: stays ? mine?.value ?? theirs : theirs, systemFields: record.systemFields,
          isUnsent: stays)
      }
    case .score(let name):
      if let theirs = DailyScore(record) {
        board.take(theirs, name, record, me: me, scoring)
      }
    case .friend, .other: break
    }
    boards[key] = board
    if isNew || record is CKShare {
      spread(nil, into: [key], scoring)
      return unsent(in: scope)
    }
    let isUnsent =
      boards[key]?.scores[record.recordID.recordName]?.isUnsent == true
      || (me.flatMap { boards[key]?.profiles[$0] }?.isUnsent == true
        && me.map { SocialRecords.profileName($0) } == record.recordID.recordName)
    return [isUnsent ? .save(record.recordID) : .drop(record.recordID)]
  }

  /// The cloud's version stands though it can't be read here; nobody fights over it.
  private mutating func leaveAlone(_ id: CKRecord.ID) -> [RecordWish] {
    scores[id.recordName]?.isUnsent = false
    return [.drop(id)]
  }

  /// Applies a change to the value whose record `id` is: a leaderboard's, or the person's own.
  private mutating func apply(
    _ change: KeptChange, to id: CKRecord.ID, _ scope: CKDatabase.Scope
  ) {
    let key = Self.key(id.zoneID, scope)
    switch SocialRecords.Name(id.recordName) {
    case .profile(let user) where boards[key] != nil: boards[key]?.profiles[user].apply(change)
    case .profile: profile.apply(change)
    case .friend(let code): friends[code].apply(change)
    case .score(let name) where boards[key] != nil: boards[key]?.scores[name].apply(change)
    case .score(let name): scores[name].apply(change)
    case .share, .other: break
    }
  }

  private mutating func removed(_ id: CKRecord.ID, _ scope: CKDatabase.Scope) -> [RecordWish] {
    let key = Self.key(id.zoneID, scope)
    switch SocialRecords.Name(id.recordName) {
    case .profile where boards[key] == nil:
      // The person is still who they are.
      apply(.lost, to: id, scope)
      return profile == nil ? [] : [.save(id)]
    case .friend(let code): goneFriends.remove(code)
    case .share where scope == .shared: boards[key] = nil
    case .share: boards[key]?.take(nil, me: owner)
    case .profile, .score, .other: break
    }
    apply(.removed, to: id, scope)
    return [.drop(id)]
  }
}

extension Board {
  /// Takes over what a share says; `nil` when it is not shared any more.
  mutating func take(_ share: CKShare?, me: String?) {
    guard let share else {
      url = nil
      isOpen = false
      members = []
      return
    }
    title = share[CKShare.SystemFieldKey.title] as? String ?? title
    url = share.url
    isOpen = share.publicPermission != .none
    mayWrite = owner == nil || share.currentUserParticipant?.permission == .readWrite
    members = share.participants.map { person in
      let name = person.userIdentity.userRecordID?.recordName
      return SharedLeaderboard.Member(
        userId: name == CKCurrentUserDefaultName ? me : name,
        displayName: nil, hasJoined: person.acceptanceStatus == .accepted,
        isOwner: person.role == .owner, mayWrite: person.permission == .readWrite)
    }
  }

  /// Takes a score somebody wrote; one that was not written by the person it is about is left
  /// alone, and when it is the signed-in person's, put right.
  mutating func take(
    _ theirs: DailyScore, _ name: String, _ record: CKRecord, me: String?,
    _ scoring: LeaderboardScoring
  ) {
    let fields = record.systemFields
    guard record.isWritten(by: theirs.userId, me: me) else {
      if theirs.userId == me, let mine = scores[name]?.value {
        scores[name] = Kept(value: mine, systemFields: fields, isUnsent: mine != theirs)
      }
      return
    }
    guard theirs.userId == me, let mine = scores[name]?.value else {
      scores[name] = Kept(value: theirs, systemFields: fields)
      return
    }
    let joined = scoring.joined(mine, theirs)
    scores[name] = Kept(value: joined, systemFields: fields, isUnsent: joined != theirs)
  }
}

extension CKRecord {
  /// Whether the record's last version is by `user`, as the server says.
  fileprivate func isWritten(by user: String, me: String?) -> Bool {
    guard let author = lastModifiedUserRecordID?.recordName else { return true }
    return (author == CKCurrentUserDefaultName ? me : author) == user
  }
}
