import CommandLineKit
import Foundation
import GameResultStore
import LeaderboardStore

private let verb = Verbs<LeaderboardApp>()

extension Store {
  /// Daily scores among friends.
  static let leaderboard = Store(
    "leaderboard",
    watching: Watching<LeaderboardApp>(
      noun: "rank", listVerb: "show",
      subscriptions: PushLine.privateDatabase + PushLine.sharedDatabase
    ) { app in
      try app.social.standings(LeaderboardQuery()).map { .init($0.userId, Row($0)) }
    },
    completing: [
      "GAME": .fixed(Game.all.map(\.name)),
      "BOARD": Completing(LeaderboardApp.self) { app in
        app.social.leaderboards.map { ($0.title, $0.id) }
      },
    ],
    act: .leaderboard
  ) {
    verb("profile", .optionalWord) { app, output, name in
      let profile = try await app.social.ensureProfile(displayName: name)
      let code = (try? FriendCode(profile.friendCode))?.description ?? profile.friendCode
      try output.result(
        ["name": profile.displayName, "friendCode": code, "userId": profile.id],
        """
        name: \(printable(profile.displayName))
        friend code: \(printable(code))
        user: \(printable(profile.id))
        """)
    }
    verb("code") { app, output in
      let code = try await app.social.generateFriendCode()
      try output.result(["code": code.description], code.description)
    }
    verb("friend", isAdded, .word("the friend's code")) { app, output, isAdded, code in
      if isAdded { try await app.social.addFriend(code: code) }
      if !isAdded { try await app.social.removeFriend(code: code) }
      let text = try FriendCode(code).description
      try output.result(["friend": text], isAdded ? "added \(text)" : "removed \(text)")
    }
    verb("friends") { app, output in
      try output.list(
        "friends", try await app.social.listFriends().map { Row($0) },
        [.init("CODE"), .init("NAME", .text), .init("ADDED")],
        empty: "no friends yet; add one by their code")
    }
    Verb.inSession("publish", score) { session, output, score in
      let app = try session.app(LeaderboardApp.self)
      let scores =
        try score.map { [$0] } ?? session.app(ResultsApp.self).store.results.map { DailyScore($0) }
      try await app.social.publishDailyScores(scores)
      try output.result(
        ["scores": scores.count, "waiting": app.unsent],
        "\(count(scores.count, "score")) on this device, \(app.unsent) waiting for the cloud")
    }
    verb("show", .optionalWord, .option("game"), day) {
      app, output, board, game, day in
      let query = LeaderboardQuery(
        gameId: game.map(gameId), from: day ?? 0, through: day ?? .max,
        leaderboard: try board.map(app.boardID))
      try output.list(
        "ranking", try await app.social.fetchLeaderboard(query).map { Row($0) },
        [
          .init("RANK", .number), .init("NAME", .text), .init("POINTS", .number),
          .init("SOLVED", .number), .init("SCORE", .number, isDetail: true),
        ], empty: "no scores yet")
    }
    verb("list") { app, output in
      try output.list(
        "leaderboards", app.social.leaderboards.map { Row($0) },
        [
          .init("ID", .id), .init("TITLE", .text), .init("WHOSE", isDetail: true),
          .init("MEMBERS", .text), .init("SCORES", .number, isDetail: true),
        ], empty: "no leaderboards yet; create one, or accept a link")
    }
    verb("create", access: .server, .word("the leaderboard's title")) { app, output, title in
      let board = try await app.social.createLeaderboard(title: title)
      try output.result(Row(board).document, "made \(printable(board.title)), \(board.id)")
    }
    verb("share", access: .server, board, guest) { app, output, board, user in
      let url =
        if let user { try await app.social.invite(user, to: board) } else {
          try await app.social.open(board)
        }
      try output.result(["url": url.absoluteString], url.absoluteString)
    }
    verb("accept", access: .server, .link("the leaderboard's link")) { app, output, url in
      let board = try await app.social.accept(url)
      try output.result(Row(board).document, "joined \(printable(board.title)), \(board.id)")
    }
    verb("revoke", access: .server, board, .word("whom to take out")) { app, output, board, user in
      try await app.social.revoke(user, from: try app.boardID(board))
      try output.result(["revoked": user], "\(printable(user)) is out of \(printable(board))")
    }
    verb("leave", access: .server, board) { app, output, board in
      try await app.social.leave(try app.boardID(board))
      try output.result(["left": board], "you left \(printable(board))")
    }
    verb("delete", access: .server, board) { app, output, board in
      try await app.social.delete(try app.boardID(board))
      try output.result(["deleted": board], "\(printable(board)) is no more")
    }
    verb.status(access: .server) { app in
      _ = await app.social.checkCloud()
      return app.status
    }
  }

  private static let board = Parameter.word("the leaderboard's title or ID")

  /// An option with a day, written with or without hyphens, as a number.
  private static let day = Parameter.option("day", "a day is written as 2026-11-03") { text in
    Int(text.filter { $0 != "-" }).flatMap { $0 > 0 ? $0 : nil }
  }

  private static let isAdded = Parameter.word("add or remove", "a friend is added or removed") {
    ["add": true, "remove": false][$0]
  }

  /// The user of `--with`; `nil` for all who have the link.
  private static let guest = Parameter<String?> { arguments in
    let user = arguments.value("with")
    guard arguments.flag("anyone") != (user != nil) else {
      throw UsageError("say with whom: --with USER, as their profile shows it, or --anyone")
    }
    return user
  }

  /// The score that the words and options give; `nil` for those of the results on the device.
  private static let score = Parameter<DailyScore?> { arguments in
    let game = arguments.word()
    let score = try Parameter.optionalWord("a score is a whole number", parse: wholeNumber)
      .read(&arguments)
    let limit = try Parameter.option("max", "--max is a whole number", parse: wholeNumber)
      .read(&arguments)
    let day = try day.read(&arguments)
    guard arguments.flag("results") != (game != nil) else {
      throw UsageError("name a game, or take those of the results with --results")
    }
    return game.map { game in
      DailyScore(
        gameId: gameId(game), dateInt: day ?? DailyScore.dateInt(of: Date()), score: score,
        maxAttempts: limit ?? Game.named(game)?.maxAttempts ?? 0, completed: score != nil,
        publishedAt: Date())
    }
  }

  /// The ID that the scores of the game called `name` have.
  @Sendable private static func gameId(_ name: String) -> String {
    Game.named(name)?.id.uuidString ?? name
  }
}

extension DailyScore {
  fileprivate init(_ result: GameResult) {
    self.init(
      gameId: result.gameId.uuidString, dateInt: DailyScore.dateInt(of: result.date),
      score: result.completed ? result.score : nil, maxAttempts: result.maxAttempts,
      completed: result.completed, publishedAt: result.date)
  }
}
