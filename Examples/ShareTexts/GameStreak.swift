public import Foundation

/// How a person is doing at one game, computed from results and never synced: results are the one
/// truth, so streaks of two devices can't contradict each other.
public struct GameStreak: Hashable, Sendable, Identifiable {
  /// The game's ID: there is one streak a game.
  public var id: UUID { gameId }

  /// The game's ID.
  public let gameId: UUID
  /// The game's name.
  public let gameName: String
  /// How many days in a row, up to today or yesterday, a puzzle was solved.
  public let currentStreak: Int
  /// The most days in a row there ever were.
  public let maxStreak: Int
  /// Results there are.
  public let totalGamesPlayed: Int
  /// Results of solved puzzles.
  public let totalGamesCompleted: Int
  /// The moment of the newest result; `nil` when there is none.
  public let lastPlayedDate: Date?
  /// The moment of the first solved result of the current streak; `nil` without one.
  public let streakStartDate: Date?

  /// Computes the streak of one game.
  ///
  /// A day counts once, however often was played, and it counts when at least one puzzle was
  /// solved on it. A day on which none was solved ends a streak. Today not played yet does not:
  /// a streak that reached yesterday is alive. Results of days after today count as played only.
  /// - Parameters:
  ///   - results: the results of all games, in any order.
  ///   - gameId: the game.
  ///   - gameName: its name.
  ///   - today: a moment of the present day.
  ///   - calendar: says where days begin, and in which time zone.
  public static func compute(
    from results: some Sequence<GameResult>, gameId: UUID, gameName: String, today: Date,
    calendar: Calendar
  ) -> GameStreak {
    let present = PuzzleDay(today, calendar).number
    let results = results.filter { $0.gameId == gameId }
    let days = Dictionary(grouping: results) { PuzzleDay($0.date, calendar).number }
    // The moment of the first solved result of each day that has one.
    let solved = days.compactMapValues { $0.filter(\.completed).map(\.date).min() }
    // Played today without success: the streak is over, whatever yesterday brought.
    let last = days[present] == nil ? present - 1 : present
    let streak = { (last: Int) in (0...).prefix { solved[last - $0] != nil }.count }
    let current = streak(last)
    let ends = solved.keys.filter { $0 == present || ($0 < present && solved[$0 + 1] == nil) }
    return GameStreak(
      gameId: gameId, gameName: gameName, currentStreak: current,
      maxStreak: ends.map(streak).max() ?? 0, totalGamesPlayed: results.count,
      totalGamesCompleted: results.count(where: \.completed),
      lastPlayedDate: results.map(\.date).max(),
      streakStartDate: current == 0 ? nil : solved[last - current + 1])
  }
}
