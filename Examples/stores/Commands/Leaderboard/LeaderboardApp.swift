import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import LeaderboardStore
import SyncSupport

/// Friends, scores and shared leaderboards.
///
/// What a command changes waits here until a sync moves it up.
final class LeaderboardApp: StoreApp {
  static let name = "leaderboard"

  let social: HybridSocialService
  private let account: String?

  init(_ place: AppPlace) throws {
    account = place.device.account
    social = try HybridSocialService(
      directory: place.directory, container: place.device.link().container,
      scoring: LeaderboardScoring { name in
        let game = UUID(uuidString: name).flatMap { Game.with(id: $0) }
        return game?.scoring == .points ? .moreIsBetter : .fewerIsBetter
      }, looksForCloud: false, automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] {
    [
      (social.cloud.myScores.count + social.local.waiting, "score"),
      (social.cloud.leaderboards.count, "leaderboard"),
    ]
  }

  var unsent: Int { social.cloud.waiting + social.local.waiting }

  func start() {}

  func sync() async throws -> any SyncReport {
    guard await social.checkCloud() == .cloudKit else {
      throw ToolError(
        account == nil
          ? "no account is signed in on this device; run: stores account switch NAME"
          : social.reason ?? "the server can't be reached")
    }
    try await social.cloud.sync()
    return LeaderboardStatusDocument(self)
  }

  func stop() async throws { try await social.shutDown() }

  func seen() -> RecordTable {
    var table = RecordTable()
    for row in social.cloud.canonicalRows { table.add(row.name, row.text.utf8) }
    return table
  }

  var traces: Traces {
    Traces(
      names: social.cloud.myScores.map(\.id) + social.cloud.leaderboards.map(\.id),
      texts: social.cloud.canonicalRows.map(\.text))
  }

  /// What is asked of the cloud at once: connects, does it, and lets go of the cloud again.
  static func online(
    _ usage: String, _ summary: String,
    parse:
      @escaping @Sendable (inout Arguments) throws
      -> @Sendable (LeaderboardApp, Output) async throws -> Void
  ) -> Verb {
    Verb(usage, summary) { arguments in
      let action = try parse(&arguments)
      return { invocation in
        try await invocation.withSession { session in
          let app = try session.app(LeaderboardApp.self)
          try await session.device.connect()
          do {
            try await action(app, invocation.output)
          } catch {
            try await app.stop()
            throw error
          }
          try await app.stop()
        }
      }
    }
  }

  /// The ID scores have for a game somebody named.
  static func gameId(_ name: String) -> String { Game.named(name)?.id.uuidString ?? name }

  /// What people call the game of a score.
  static func gameName(_ id: String) -> String {
    UUID(uuidString: id).flatMap { Game.with(id: $0) }?.name ?? id
  }
}

/// A row of a ranking as `--json` shows it.
struct RankDocument: Encodable {
  var rank: Int
  var name: String
  var userId: String
  var isMe: Bool
  var points: Int
  var solved: Int
  var played: Int
  var score: Int?

  init(_ row: LeaderboardRow) {
    rank = row.rank
    name = row.displayName
    userId = row.userId
    isMe = row.isMe
    points = row.points
    solved = row.solved
    played = row.played
    score = row.score
  }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init("\(rank)"), .init(name + (isMe ? " (you)" : ""), isMe ? .green : .plain),
      .init("\(points)"), .init("\(solved)/\(played)"), .init(score.map { "\($0)" } ?? "–"),
    ]
  }
}

/// A leaderboard as `--json` shows it.
struct LeaderboardDocument: Encodable {
  var id: String
  var title: String
  var url: URL?
  var isOpen: Bool
  var isMine: Bool
  var members: [String]
  var scores: Int

  init(_ board: SharedLeaderboard) {
    id = board.id
    title = board.title
    url = board.url
    isOpen = board.isOpen
    isMine = board.isMine
    members = board.members.filter(\.hasJoined).map { $0.displayName ?? $0.userId ?? "somebody" }
    scores = board.scoreCount
  }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init(id, .dim), .init(title), .init(isMine ? "yours" : "shared with you"),
      .init(members.joined(separator: ", ")), .init("\(scores)"),
    ]
  }
}

/// A profile as `--json` shows it.
struct ProfileDocument: Encodable {
  var name: String
  var friendCode: String
  var userId: String

  init(_ profile: UserProfile) {
    name = profile.displayName
    friendCode = (try? FriendCode(profile.friendCode))?.description ?? profile.friendCode
    userId = profile.id
  }

  /// Some lines for people.
  var words: String {
    "name: \(printable(name))\nfriend code: \(printable(friendCode))\nuser: \(printable(userId))"
  }
}

/// Where scores go, as `--json` shows it.
struct LeaderboardStatusDocument: SyncReport {
  var service: String
  var meaning: String
  var reason: String?
  var waiting: Int
  var scores: Int
  var leaderboards: Int
  var lastSync: Date?

  init(_ app: LeaderboardApp) {
    let social = app.social
    service = social.serviceStatus.displayName
    meaning = social.serviceStatus.description
    reason = social.reason
    waiting = app.unsent
    scores = social.cloud.myScores.count
    leaderboards = social.cloud.leaderboards.count
    lastSync = social.cloud.lastSync
  }

  /// One line for people, after a sync.
  var words: String {
    "leaderboard: \(count(scores, "score")), \(count(leaderboards, "leaderboard")), "
      + "\(waiting) waiting · \(service)"
  }
}
