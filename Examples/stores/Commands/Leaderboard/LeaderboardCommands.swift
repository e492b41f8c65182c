import CommandLineKit
import Foundation
import GameResultStore
import LeaderboardStore

extension Store {
  /// Daily scores among friends.
  static let leaderboard = Store(
    "leaderboard", LeaderboardApp.self,
    summary: "daily scores among friends, in shared leaderboards",
    verbs: [
      profile, friendCode, changeFriends, listFriends, publish, show, listBoards, create, share,
      accept, revoke, leave, deleteBoard, leaderboardStatus,
    ],
    notes: """
      profile, friends and scores wait on this device until a sync moves them up; whatever changes
      a leaderboard itself is done at once.
      """,
    watching: Watching(
      noun: "rank", listVerb: "show",
      subscriptions: PushLine.privateDatabase + PushLine.sharedDatabase
    ) { app in
      try app.social.cloud.standings(LeaderboardQuery()).map { row in
        let document = RankDocument(row)
        let words = document.cells.map { printable($0.text) }.joined(separator: "  ")
        return .init(id: row.userId, state: words, document: document, words: words)
      }
    },
    completing: [
      "GAME": .fixed(Game.all.map(\.name)),
      "BOARD": Completing(LeaderboardApp.self) { app in
        app.social.cloud.leaderboards.map { ($0.title, $0.id) }
      },
    ],
    act: .leaderboard)

  private static let profile = Verb(
    "profile [NAME]", "your profile; a name makes or changes it", on: LeaderboardApp.self
  ) { arguments in
    let name = arguments.word()
    return { app, output in
      let profile = try await app.social.ensureProfile(displayName: name)
      try output.result(ProfileDocument(profile), ProfileDocument(profile).words)
    }
  }

  private static let friendCode = Verb(
    "code", "the code to give to friends", on: LeaderboardApp.self
  ) { _ in
    { app, output in
      let code = try await app.social.generateFriendCode()
      try output.result(["code": code.description], code.description)
    }
  }

  private static let changeFriends = Verb(
    "friend add|remove CODE", "add a friend by their code, or take them off the list",
    on: LeaderboardApp.self
  ) { arguments in
    let what = try arguments.word("add or remove")
    guard ["add", "remove"].contains(what) else {
      throw UsageError("a friend is added or removed, not \(quoted(what))")
    }
    let code = try arguments.word("the friend's code")
    return { app, output in
      if what == "add" {
        try await app.social.addFriend(code: code)
      } else {
        try await app.social.removeFriend(code: code)
      }
      let text = try FriendCode(code).description
      try output.result(
        ["friend": text], what == "add" ? "added \(text)" : "removed \(text)")
    }
  }

  private static let listFriends = Verb(
    "friends", "your friends; those in a leaderboard with you by name", on: LeaderboardApp.self
  ) { _ in
    { app, output in
      let friends = try await app.social.listFriends().map { friend in
        [
          (try? FriendCode(friend.connection.friendCode))?.description ?? "?",
          friend.profile?.displayName ?? "not met yet",
          String(timestamp(friend.connection.addedAt).prefix(10)),
        ]
      }
      try output.result(
        ["friends": friends.map { ["code": $0[0], "name": $0[1], "added": $0[2]] }],
        Table(
          [.init("CODE"), .init("NAME", .text), .init("ADDED")],
          friends.map { $0.map { Table.Cell($0) } }),
        empty: "no friends yet; add one by their code")
    }
  }

  private static let listBoards = Verb(
    "list", "the leaderboards you are in", on: LeaderboardApp.self
  ) { _ in
    { app, output in
      let boards = app.social.cloud.leaderboards.map(LeaderboardDocument.init)
      try output.result(
        ["leaderboards": boards],
        Table(
          [
            .init("ID", .id), .init("TITLE", .text), .init("WHOSE", isDetail: true),
            .init("MEMBERS", .text), .init("SCORES", .number, isDetail: true),
          ], boards.map(\.cells)), empty: "no leaderboards yet; create one, or accept a link")
    }
  }

  private static let show = Verb(
    "show [BOARD] [--game GAME] [--day DAY]",
    "the ranking in a leaderboard, or of everybody you know", on: LeaderboardApp.self
  ) { arguments in
    let board = arguments.word()
    let game = arguments.value("game")
    let day = try arguments.value("day").map(day)
    return { app, output in
      let rows = try await app.social.fetchLeaderboard(
        LeaderboardQuery(
          gameId: game.map(LeaderboardApp.gameId), from: day ?? 0, through: day ?? .max,
          leaderboard: try board.map(app.boardID))
      ).map(RankDocument.init)
      try output.result(
        ["ranking": rows],
        Table(
          [
            .init("RANK", .number), .init("NAME", .text), .init("POINTS", .number),
            .init("SOLVED", .number), .init("SCORE", .number, isDetail: true),
          ],
          rows.map(\.cells)), empty: "no scores yet")
    }
  }

  /// The number of a day as a person writes it, with or without hyphens.
  static func day(_ text: String) throws -> Int {
    guard let number = Int(text.filter { $0 != "-" }), number > 0 else {
      throw UsageError("a day is written as 2026-11-03, not \(quoted(text))")
    }
    return number
  }

  private static let leaderboardStatus = LeaderboardApp.online(
    "status", "where scores go now, and what waits"
  ) { _ in
    { app, output in
      _ = await app.social.checkCloud()
      let document = LeaderboardStatusDocument(app)
      try output.result(
        document,
        [
          "\(document.service): \(document.meaning)", document.reason.map(printable),
          "waiting: \(document.waiting)", "scores: \(document.scores)",
          "leaderboards: \(document.leaderboards)",
          "last sync: \(document.lastSync.map(timestamp) ?? "never")",
        ].compactMap(\.self).joined(separator: "\n"))
    }
  }
}
