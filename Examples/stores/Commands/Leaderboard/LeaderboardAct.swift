import CommandLineKit
import Foundation
import LeaderboardStore

extension DemoAct {
  /// Scores made without a cloud, and a leaderboard that anna shares with ben.
  static let leaderboard = DemoAct { stage in
    try await stage.compete()
  } addItem: { _, device in
    let app = try device.app(LeaderboardApp.self)
    _ = try await app.social.ensureProfile(displayName: "Carl, who was here for a while")
    try await app.social.publishDailyScores([DemoStage.score("carls-game", 4)])
  }
}

extension DemoStage {
  fileprivate static func score(
    _ game: String, _ score: Int?, _ day: Int = 20_261_103
  ) -> DailyScore {
    DailyScore(
      gameId: game, dateInt: day, score: score, maxAttempts: 6, completed: score != nil,
      publishedAt: Date(timeIntervalSince1970: 1_793_707_200))
  }

  fileprivate mutating func compete() async throws {
    begin("leaderboard: scores made without a network move up when it is back")
    let (phone, desk) = try await both(LeaderboardApp.self)
    let tablet = try await tablet().with(LeaderboardApp.self)
    let (anna, other, ben) = (phone.app.social, desk.app.social, tablet.app.social)
    _ = try await anna.ensureProfile(displayName: "Anna of the phone and the desk")
    let reason = try await offline(phone) {
      for day in 1...3 {
        try await anna.publishDailyScores([
          Self.score("wordle", 2 + day, 20_261_100 + day),
          Self.score("connections", day == 2 ? nil : 5, 20_261_100 + day),
        ])
      }
      _ = await anna.checkCloud()
      return anna.reason
    }
    tell(
      "offline: \(anna.serviceStatus.displayName), \(phone.app.unsent) waiting; "
        + "\(reason ?? "no reason")")
    check(anna.serviceStatus == .local, "the device stands in")
    try await sync(phone) {
      "online: \($0.social.serviceStatus.displayName), \($0.unsent) waiting"
    }
    try await settle(desk)
    check(other.myScores.count == 6, "the desk has anna's six scores")

    begin("leaderboard: anna invites ben, and both publish")
    _ = try await ben.ensureProfile(displayName: "Ben of the tablet")
    try await ben.publishDailyScores([
      Self.score("wordle", 2), Self.score("wordle", 6, 20_261_102),
    ])
    try await settle(tablet)
    let board = try await anna.createLeaderboard(title: "Breakfast")
    let user = ben.userId ?? ""
    let url = try await anna.invite(user, to: board.id)
    tell("anna invites ben: \(url.absoluteString)")
    guard let link = URL(string: url.absoluteString) else { throw ToolError("there is no link") }
    try await ben.accept(link)
    try await settle(phone, desk, tablet)
    let query = LeaderboardQuery(leaderboard: board.id)
    let ranking = try await anna.fetchLeaderboard(query)
    for row in ranking { tell("\(row.rank). \(row.displayName), \(count(row.points, "point"))") }
    check(ranking.count == 2, "two people are ranked")
    for service in [other, ben] {
      let same = try await service.fetchLeaderboard(query).elementsEqual(ranking) {
        ($0.rank, $0.displayName, $0.points) == ($1.rank, $1.displayName, $1.points)
      }
      check(same, "all three devices show the same ranking")
    }
    compare(phone, desk)

    begin("leaderboard: ben is taken out again")
    try await anna.revoke(user, from: board.id)
    try await settle(tablet, phone, desk)
    let left = try await other.fetchLeaderboard(query).count
    check(ben.leaderboards.isEmpty && left == 1, "ben and his scores are out")
    tell(
      "on ben's tablet: \(count(ben.leaderboards.count, "leaderboard")); "
        + "in anna's: \(count(left, "person"))")
  }
}
