public import Foundation
import SyncSupport
import SyncedStore

/// Leaderboards that people share: made, joined, left and ended.
///
/// These calls need the cloud: when they return, it has done what was asked. They throw
/// ``SocialServiceError``.
extension HybridSocialService {
  var boards: [Board] {
    let me = userId
    let stores = shared.status.account == me ? [own, shared] : [own]
    return stores.flatMap { store in
      store.zoneIDs.filter(LeaderboardZones.isLeaderboard).map {
        Board(store: store, zoneID: $0, share: store.knownShare(of: $0), me: me)
      }
    }
  }

  /// All leaderboards on this device, by title.
  public var leaderboards: [SharedLeaderboard] {
    boards.map(\.leaderboard).sorted { ($0.title, $0.id) < ($1.title, $1.id) }
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
    let title = try UserProfile.cleaned(title)
    _ = try await ready()
    let zone = CKRecordZone.ID(zoneName: LeaderboardZones.prefix + id.uuidString)
    _ = try await inCloud {
      try await own.share(zone) { $0[CKShare.SystemFieldKey.title] = title }
    }
    try await sync()
    return try findBoard(id.uuidString).leaderboard
  }

  /// Invites a person, who may join with the link from then on.
  ///
  /// - Parameter userId: their user record's name, which their profile shows.
  /// - Returns: the link to give them.
  public func invite(_ userId: String, to id: String) async throws -> URL {
    let person = try await inCloud {
      do {
        return try await container.shareParticipant(
          forUserRecordID: CKRecord.ID(recordName: userId))
      } catch let error as CKError where error.code == .unknownItem {
        throw SocialServiceError.unknownPerson(userId)
      }
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
    return try findBoard(LeaderboardZones.id(of: zone)).leaderboard
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
    _ = try findBoard(id).remove(userId)
    try await sync()
  }

  /// Leaves somebody else's leaderboard, taking the person's scores out of it.
  public func leave(_ id: String) async throws {
    let user = try await ready()
    let board = try findBoard(id)
    guard !board.isMine else { throw SocialServiceError.ownerCannotLeave }
    try await inCloud {
      if board.mayWrite { try await shared.sendChanges(of: try board.remove(user)) }
      try await shared.endSharing(of: board.zoneID)
    }
    try await sync()
  }

  /// Ends a leaderboard of one's own for everybody.
  public func delete(_ id: String) async throws {
    _ = try await ready()
    let board = try findBoard(id)
    guard board.isMine else { throw SocialServiceError.notOwner }
    try await inCloud { try await own.deleteZone(board.zoneID) }
    try await sync()
  }

  /// Changes the share of a leaderboard of one's own as the cloud has it now.
  private func changeShare(
    of id: String, _ change: (CKShare) throws -> Void
  ) async throws -> URL {
    _ = try await ready()
    let board = try findBoard(id)
    guard board.isMine else { throw SocialServiceError.notOwner }
    let share = try await inCloud { try await own.share(board.zoneID, configure: change) }
    guard let url = share.url else { throw SocialServiceError.notALeaderboard }
    return url
  }

  /// The leaderboard with an ID or a title that only one has.
  func findBoard(_ name: String) throws -> Board {
    let boards = boards
    if let board = boards.first(where: { $0.id == name }) { return board }
    let named = boards.filter { $0.title.lowercased() == name.lowercased() }
    guard let board = named.first, named.count == 1 else {
      throw SocialServiceError.unknownLeaderboard(name)
    }
    return board
  }
}
