import CommandLineKit
import Foundation
import GameResultStore
import LeaderboardStore

/// What is published, and who shares a leaderboard with whom.
extension Store {
  static let publish = Verb(
    "publish [GAME] [SCORE] [--max N] [--day DAY] [--results]",
    "publish a score, without one as not solved; or those of\nthe results on this device"
  ) { arguments in
    let game = arguments.word()
    let score = try arguments.word().map { try number($0, "a score") }
    let limit = try arguments.value("max").map { try number($0, "--max") }
    let day = try arguments.value("day").map(Store.day)
    let fromResults = arguments.flag("results")
    guard fromResults != (game != nil) else {
      throw UsageError("name a game, or take those of the results with --results")
    }
    return { invocation in
      try await invocation.withSession { session in
        let app = try session.app(LeaderboardApp.self)
        var scores: [DailyScore] = []
        if let game {
          scores = [
            DailyScore(
              gameId: LeaderboardApp.gameId(game), dateInt: day ?? DailyScore.dateInt(of: Date()),
              score: score, maxAttempts: limit ?? Game.named(game)?.maxAttempts ?? 0,
              completed: score != nil, publishedAt: Date())
          ]
        } else {
          scores = try session.app(ResultsApp.self).store.results.map(DailyScore.init)
        }
        try await app.social.publishDailyScores(scores)
        try invocation.output.result(
          ["scores": scores.count, "waiting": app.unsent],
          "\(count(scores.count, "score")) on this device, \(app.unsent) waiting for the cloud")
      }
    }
  }

  private static func number(_ text: String, _ what: String) throws -> Int {
    guard let number = Int(text), number >= 0 else {
      throw UsageError("\(what) is a whole number, not \(quoted(text))")
    }
    return number
  }

  static let create = LeaderboardApp.online(
    "create TITLE", "make a leaderboard"
  ) { arguments in
    let title = try arguments.word("the leaderboard's title")
    return { app, output in
      let board = try await app.social.cloud.createLeaderboard(title: title)
      try output.result(
        LeaderboardDocument(board), "made \(printable(board.title)), \(board.id)")
    }
  }

  static let share = LeaderboardApp.online(
    "share BOARD (--with USER | --anyone)", "invite somebody, or all who have the link"
  ) { arguments in
    let board = try arguments.word("the leaderboard's title or ID")
    let user = arguments.value("with")
    let isOpen = arguments.flag("anyone")
    guard isOpen != (user != nil) else {
      throw UsageError("say with whom: --with USER, as their profile shows it, or --anyone")
    }
    return { app, output in
      let cloud = app.social.cloud
      let url =
        if let user { try await cloud.invite(user, to: board) } else {
          try await cloud.open(board)
        }
      try output.result(["url": url.absoluteString], url.absoluteString)
    }
  }

  static let accept = LeaderboardApp.online(
    "accept URL", "join a leaderboard"
  ) { arguments in
    let text = try arguments.word("the leaderboard's link")
    guard let url = URL(string: text) else { throw UsageError("\(quoted(text)) is no link") }
    return { app, output in
      let board = try await app.social.cloud.accept(url)
      try output.result(
        LeaderboardDocument(board), "joined \(printable(board.title)), \(board.id)")
    }
  }

  static let revoke = LeaderboardApp.online(
    "revoke BOARD USER", "take somebody out of a leaderboard of yours"
  ) { arguments in
    let board = try arguments.word("the leaderboard's title or ID")
    let user = try arguments.word("whom to take out")
    return { app, output in
      try await app.social.cloud.revoke(user, from: try app.boardID(board))
      try output.result(["revoked": user], "\(printable(user)) is out of \(printable(board))")
    }
  }

  static let leave = LeaderboardApp.online(
    "leave BOARD", "leave somebody else's leaderboard, with your scores"
  ) { arguments in
    let board = try arguments.word("the leaderboard's title or ID")
    return { app, output in
      try await app.social.cloud.leave(try app.boardID(board))
      try output.result(["left": board], "you left \(printable(board))")
    }
  }

  static let deleteBoard = LeaderboardApp.online(
    "delete BOARD", "end a leaderboard of yours, for everybody"
  ) { arguments in
    let board = try arguments.word("the leaderboard's title or ID")
    return { app, output in
      try await app.social.cloud.delete(try app.boardID(board))
      try output.result(["deleted": board], "\(printable(board)) is no more")
    }
  }
}

extension LeaderboardApp {
  /// The leaderboard a person means by a title, an ID, or the beginning of one.
  func boardID(_ name: String) throws -> String {
    let boards = social.cloud.leaderboards
    if let board = boards.first(where: { $0.title.lowercased() == name.lowercased() }) {
      return board.id
    }
    return try find(name, in: boards.compactMap { UUID(uuidString: $0.id) }, "leaderboard")
      .uuidString
  }
}

extension DailyScore {
  /// The score of a result of a daily puzzle.
  init(_ result: GameResult) {
    self.init(
      gameId: result.gameId.uuidString, dateInt: DailyScore.dateInt(of: result.date),
      score: result.completed ? result.score : nil, maxAttempts: result.maxAttempts,
      completed: result.completed, publishedAt: result.date)
  }
}
