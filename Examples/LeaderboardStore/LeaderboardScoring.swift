import Foundation

/// Whether fewer or more is better in a game.
public enum ScoreOrder: Hashable, Sendable {
  /// Attempts, seconds, hints.
  case fewerIsBetter
  /// Points.
  case moreIsBetter
}

/// The rules by which scores are compared, merged and ranked; the same on all devices.
public struct LeaderboardScoring: Sendable {
  private let order: @Sendable (String) -> ScoreOrder

  /// Makes the rules.
  ///
  /// - Parameter order: says for a game's ID which scores are better.
  public init(order: @escaping @Sendable (String) -> ScoreOrder = { _ in .fewerIsBetter }) {
    self.order = order
  }

  /// Which of two scores of the same person, game and day stays: the better one; of two equally
  /// good ones the later one.
  ///
  /// A total order stands behind it, so devices agree whatever reached them first.
  public func joined(_ first: DailyScore, _ second: DailyScore) -> DailyScore {
    if let isBetter = compare(first, second) { return isBetter ? first : second }
    if first.publishedAt != second.publishedAt {
      return first.publishedAt > second.publishedAt ? first : second
    }
    return first.maxAttempts >= second.maxAttempts ? first : second
  }

  /// Whether the first score is the better one; `nil` when both are equally good.
  public func compare(_ first: DailyScore, _ second: DailyScore) -> Bool? {
    if first.completed != second.completed { return first.completed }
    switch (first.score, second.score) {
    case (nil, nil): return nil
    case (_?, nil): return true
    case (nil, _?): return false
    case (let mine?, let theirs?):
      guard mine != theirs else { return nil }
      return order(first.gameId) == .fewerIsBetter ? mine < theirs : mine > theirs
    }
  }

  /// What a score adds to a ranking over several games or days.
  ///
  /// Solved puzzles with a limit of attempts give the attempts that were left and one more, points
  /// with a limit count as they are, and any other solved puzzle gives one.
  public func points(_ score: DailyScore) -> Int {
    guard score.completed else { return 0 }
    guard score.maxAttempts > 0, let value = score.score else { return 1 }
    switch order(score.gameId) {
    case .fewerIsBetter: return max(1, min(score.maxAttempts, score.maxAttempts - value + 1))
    case .moreIsBetter: return max(1, min(score.maxAttempts, value))
    }
  }

  /// Ranks people by their scores: over one game and day by the result, otherwise by points.
  ///
  /// Equal results share a rank, and the next one is skipped; within a rank the names decide.
  /// - Parameters:
  ///   - scores: at most one for each person, game and day; ones that do not fit `query` are left
  ///     out.
  ///   - names: what people are called, by user.
  ///   - me: whose row is marked.
  public func rank(
    _ scores: some Sequence<DailyScore>, _ query: LeaderboardQuery, names: [String: String],
    me: String?
  ) -> [LeaderboardRow] {
    let fitting = Dictionary(grouping: scores.filter(query.contains), by: \.userId)
    var rows = fitting.map { user, scores in
      LeaderboardRow(
        userId: user, displayName: names[user] ?? "Somebody", isMe: user == me,
        points: scores.map(points).reduce(0, +), played: scores.count,
        solved: scores.count(where: \.completed),
        result: query.isOnePuzzle ? scores.last : nil)
    }
    func isBefore(_ first: LeaderboardRow, _ second: LeaderboardRow) -> Bool? {
      if let mine = first.result, let theirs = second.result { return compare(mine, theirs) }
      return first.points == second.points ? nil : first.points > second.points
    }
    rows.sort { first, second in
      isBefore(first, second)
        ?? ((first.displayName, first.userId) < (second.displayName, second.userId))
    }
    for index in rows.indices {
      let isTied = index > 0 && isBefore(rows[index - 1], rows[index]) == nil
      rows[index].rank = isTied ? rows[index - 1].rank : index + 1
    }
    return rows
  }
}

/// Which scores a leaderboard is about.
public struct LeaderboardQuery: Hashable, Sendable {
  /// The game; `nil` for all.
  public var gameId: String?
  /// The first day, such as 20261103.
  public var from: Int
  /// The last day.
  public var through: Int
  /// The shared leaderboard; `nil` for everybody known.
  public var leaderboard: String?

  /// Asks for scores.
  public init(
    gameId: String? = nil, from: Int = 0, through: Int = .max, leaderboard: String? = nil
  ) {
    self.gameId = gameId
    self.from = from
    self.through = through
    self.leaderboard = leaderboard
  }

  /// Whether a score belongs to it.
  public func contains(_ score: DailyScore) -> Bool {
    (from...max(from, through)).contains(score.dateInt) && (gameId ?? score.gameId) == score.gameId
  }

  /// Whether it is about one game on one day, so that results can be compared as they are.
  public var isOnePuzzle: Bool { gameId != nil && from == through }
}

/// One person's place.
public struct LeaderboardRow: Hashable, Sendable {
  /// The place, from 1; equal results share one.
  public var rank = 0
  /// Who it is.
  public var userId: String
  /// What they are called.
  public var displayName: String
  /// Whether it is the signed-in person.
  public var isMe: Bool
  /// The points of all puzzles asked for.
  public var points = 0
  /// How many puzzles were played.
  public var played = 0
  /// How many of them were solved.
  public var solved = 0
  /// The result, when the question was about one puzzle.
  var result: DailyScore?
  /// The result, when the question was about one puzzle and it was solved.
  public var score: Int? { result?.score }
}
