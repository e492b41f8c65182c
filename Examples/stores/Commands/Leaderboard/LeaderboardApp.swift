import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import LeaderboardStore
import SyncSupport

/// Friends, scores and shared leaderboards.
///
/// Changes by a command wait on the device until a sync.
final class LeaderboardApp: StoreApp {
  static let name = "leaderboard"

  let social: HybridSocialService
  private let place: AppPlace

  init(_ place: AppPlace) throws {
    self.place = place
    social = try HybridSocialService(
      directory: place.directory, container: place.container(),
      scoring: LeaderboardScoring { name in
        let game = UUID(uuidString: name).flatMap { Game.with(id: $0) }
        return game?.scoring == .points ? .moreIsBetter : .fewerIsBetter
      }, looksForCloud: false, automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] {
    [(social.myScores.count, "score"), (social.leaderboards.count, "leaderboard")]
  }

  var unsent: Int { social.waiting }

  func sync() async throws -> SyncReport {
    guard await social.checkCloud() == .cloudKit else {
      throw place.failure(social.reason ?? "the server can't be reached")
    }
    return SyncReport(
      status.document,
      "leaderboard: \(count(social.myScores.count, "score")), "
        + "\(count(social.leaderboards.count, "leaderboard")), "
        + "\(unsent) waiting · \(social.serviceStatus.displayName)")
  }

  func stop() async throws { try await social.shutDown() }

  var seen: RecordTable { RecordTable(social.canonicalRows) }

  var traces: Traces {
    Traces(
      names: social.myScores.map(\.id) + social.leaderboards.map(\.id),
      texts: social.canonicalRows.map(\.text))
  }

  var status: SyncReport {
    let service = social.serviceStatus
    let (scores, boards) = (social.myScores.count, social.leaderboards.count)
    return SyncReport([
      ("service", service.displayName, "\(service.displayName): \(service.description)"),
      ("meaning", service.description, nil),
      ("reason", social.reason, social.reason.map(printable)),
      ("waiting", unsent, "waiting: \(unsent)"),
      ("scores", scores, "scores: \(scores)"),
      ("leaderboards", boards, "leaderboards: \(boards)"),
      ("lastSync", social.lastSync, lastSyncLine(social.lastSync)),
    ])
  }

  /// The ID of the leaderboard that has `name` as its title, its ID, or the beginning of its ID.
  func boardID(_ name: String) throws -> String {
    let boards = social.leaderboards
    if let board = boards.first(where: { $0.title.lowercased() == name.lowercased() }) {
      return board.id
    }
    return try find(name, in: boards, "leaderboard", id: \.id).id
  }
}

extension Row {
  init(_ row: LeaderboardRow) {
    self.init(
      [
        "rank": row.rank, "name": row.displayName, "userId": row.userId, "isMe": row.isMe,
        "points": row.points, "solved": row.solved, "played": row.played, "score": row.score,
      ],
      [
        "\(row.rank)",
        .init(row.displayName + (row.isMe ? " (you)" : ""), row.isMe ? .green : .plain),
        "\(row.points)", "\(row.solved)/\(row.played)", .init(row.score.map { "\($0)" } ?? "–"),
      ])
  }

  init(_ board: SharedLeaderboard) {
    let members = board.members.filter(\.hasJoined).map {
      $0.displayName ?? $0.userId ?? "somebody"
    }
    self.init(
      [
        "id": board.id, "title": board.title, "url": board.url, "isOpen": board.isOpen,
        "isMine": board.isMine, "members": members, "scores": board.scoreCount,
      ],
      [
        .init(board.id, .dim), .init(board.title),
        .init(board.isMine ? "yours" : "shared with you"),
        .init(members.joined(separator: ", ")), "\(board.scoreCount)",
      ])
  }

  init(_ friend: Friend) {
    let code = (try? FriendCode(friend.connection.friendCode))?.description ?? "?"
    let name = friend.profile?.displayName ?? "not met yet"
    let added = String(timestamp(friend.connection.addedAt).prefix(10))
    self.init(
      ["code": code, "name": name, "added": added], [.init(code), .init(name), .init(added)])
  }
}
