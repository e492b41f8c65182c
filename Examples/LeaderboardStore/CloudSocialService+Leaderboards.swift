import CloudSync
public import Foundation
import SyncSupport
import Synchronization

/// Leaderboards that people share: made, joined, left and ended.
///
/// These calls need the cloud: when they return, it has done what was asked.
extension CloudSocialService {
  /// All leaderboards on this device, by title.
  public var leaderboards: [SharedLeaderboard] {
    let book = core.state.withLock { $0.book }
    return book.boards.values.map(\.leaderboard).sorted { ($0.title, $0.id) < ($1.title, $1.id) }
  }

  /// Makes a leaderboard that only invited people may join.
  ///
  /// - Parameters:
  ///   - title: what people call it.
  ///   - id: names its zone.
  @discardableResult
  public func createLeaderboard(
    title: String, id: UUID = UUID()
  ) async throws -> SharedLeaderboard {
    guard let title = UserProfile.cleaned(title) else { throw SocialServiceError.invalidName }
    let user = try await ready()
    var board = Board(zoneName: LeaderboardZones.prefix + id.uuidString)
    board.title = title
    do {
      let database = container.privateCloudDatabase
      try await database.save(CKRecordZone(zoneID: board.zoneID))
      let share = CKShare(recordZoneID: board.zoneID)
      share[CKShare.SystemFieldKey.title] = title
      let saved = try await database.save(share)
      board.take(saved as? CKShare ?? share, me: user)
    } catch {
      throw noted(error)
    }
    try core.change(as: user) { book in
      let key = SocialBook.key(board.zoneID, .private)
      if book.boards[key] == nil { book.boards[key] = board }
      book.spread(nil, into: [key], core.scoring)
    }
    try await send()
    return try findBoard(board.id, in: core.state.withLock { $0.book }).leaderboard
  }

  /// Invites a person, who may join with the link from then on.
  ///
  /// - Parameter userId: their user record's name, which their profile shows.
  /// - Returns: the link to give them.
  public func invite(_ userId: String, to id: String) async throws -> URL {
    let person = try await inCloud {
      try await container.shareParticipant(forUserRecordID: CKRecord.ID(recordName: userId))
    }
    person.permission = .readWrite
    return try await changeShare(of: id) { $0.addParticipant(person) }
  }

  /// Lets everybody in who has the link; invitations nobody followed yet end.
  ///
  /// - Returns: the link.
  public func open(_ id: String) async throws -> URL {
    try await changeShare(of: id) { $0.publicPermission = .readWrite }
  }

  /// Joins the leaderboard behind a link and publishes the person's scores there.
  @discardableResult
  public func accept(_ url: URL) async throws -> SharedLeaderboard {
    _ = try await ready()
    let zone = try await inCloud {
      let metadata = try await container.shareMetadata(for: url)
      let zone = metadata.share.recordID.zoneID
      guard LeaderboardZones.isLeaderboard(zone) else { throw SocialServiceError.notALeaderboard }
      try await container.accept(metadata)
      return zone
    }
    try await sync()
    let name = zone.zoneName.dropFirst(LeaderboardZones.prefix.count)
    return try findBoard(String(name), in: core.state.withLock { $0.book }).leaderboard
  }

  /// Takes a person out of a leaderboard of one's own, with the scores they published there.
  ///
  /// Whoever was let in by an open link can come back with it; invite people to be sure.
  public func revoke(_ userId: String, from id: String) async throws {
    _ = try await changeShare(of: id) { share in
      let person = share.participants.first {
        $0.role != .owner && $0.userIdentity.userRecordID?.recordName == userId
      }
      guard let person else { throw SocialServiceError.notInLeaderboard }
      share.removeParticipant(person)
    }
    let board = try findBoard(id, in: core.state.withLock { $0.book })
    let records = board.records(of: userId)
    try await inCloud { try await delete(records, in: container.privateCloudDatabase) }
    try core.change { book in
      book.boards[SocialBook.key(board.zoneID, .private)]?.forget(userId)
    }
    try await sync()
  }

  /// Leaves somebody else's leaderboard, taking the person's scores out of it.
  public func leave(_ id: String) async throws {
    let user = try await ready()
    let board = try findBoard(id, in: core.state.withLock { $0.book })
    guard board.owner != nil else { throw SocialServiceError.ownerCannotLeave }
    let database = container.sharedCloudDatabase
    sharedSync.wish(board.records(of: user).map { .drop($0) })
    try await inCloud {
      if board.mayWrite { try await delete(board.records(of: user), in: database) }
      try await database.deleteRecord(withID: board.recordID(CKRecordNameZoneWideShare))
    }
    try core.change { $0.boards[SocialBook.key(board.zoneID, .shared)] = nil }
    try await sync()
  }

  /// Ends a leaderboard of one's own for everybody.
  public func delete(_ id: String) async throws {
    _ = try await ready()
    let board = try findBoard(id, in: core.state.withLock { $0.book })
    guard board.owner == nil else { throw SocialServiceError.notOwner }
    _ = try await inCloud {
      try await container.privateCloudDatabase.deleteRecordZone(withID: board.zoneID)
    }
    try core.change { $0.boards[SocialBook.key(board.zoneID, .private)] = nil }
    try await sync()
  }

  /// Calls the cloud, whose errors are told in words.
  private func inCloud<Result>(_ call: () async throws -> Result) async throws -> Result {
    do {
      return try await call()
    } catch {
      throw noted(error)
    }
  }

  private func delete(_ records: [CKRecord.ID], in database: CKDatabase) async throws {
    for start in stride(from: 0, to: records.count, by: 200) {
      _ = try await database.modifyRecords(
        saving: [], deleting: Array(records[start..<min(start + 200, records.count)]))
    }
  }

  /// Changes the share of a leaderboard of one's own as the cloud has it now.
  private func changeShare(
    of id: String, _ change: (CKShare) throws -> Void
  ) async throws -> URL {
    let user = try await ready()
    var board = try findBoard(id, in: core.state.withLock { $0.book })
    guard board.owner == nil else { throw SocialServiceError.notOwner }
    do {
      let database = container.privateCloudDatabase
      let known = try await database.record(for: board.recordID(CKRecordNameZoneWideShare))
      guard let share = known as? CKShare else { throw SocialServiceError.notALeaderboard }
      try change(share)
      let saved = try await database.save(share) as? CKShare ?? share
      board.take(saved, me: user)
    } catch {
      throw noted(error)
    }
    try core.change { book in
      let key = SocialBook.key(board.zoneID, .private)
      book.boards[key]?.url = board.url
      book.boards[key]?.isOpen = board.isOpen
      book.boards[key]?.members = board.members
    }
    guard let url = board.url else { throw SocialServiceError.notALeaderboard }
    return url
  }

  /// The leaderboard with an ID or a title that only one has.
  func findBoard(_ name: String, in book: SocialBook) throws -> Board {
    if let board = book.boards.values.first(where: { $0.id == name }) { return board }
    let named = book.boards.values.filter { $0.title.lowercased() == name.lowercased() }
    guard let board = named.first, named.count == 1 else {
      throw SocialServiceError.unknownLeaderboard(name)
    }
    return board
  }
}

extension Board {
  /// As people are shown it.
  var leaderboard: SharedLeaderboard {
    let members = members.map { member in
      var member = member
      member.displayName = member.userId.flatMap { profiles[$0]?.value.displayName }
      return member
    }
    return SharedLeaderboard(
      id: id, title: title, url: url, isOpen: isOpen, isMine: owner == nil, members: members,
      scoreCount: scores.count)
  }

  /// What a person published here.
  func records(of user: String) -> [CKRecord.ID] {
    let names = scores.values.map(\.value).filter { $0.userId == user }.map(\.id).sorted()
    return (names + (profiles[user] == nil ? [] : [SocialRecords.profileName(user)])).map {
      recordID($0)
    }
  }

  /// Forgets what a person published here.
  mutating func forget(_ user: String) {
    scores = scores.filter { $0.value.value.userId != user }
    profiles[user] = nil
  }
}
