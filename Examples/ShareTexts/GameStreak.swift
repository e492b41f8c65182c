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
    var played = 0
    var completed = 0
    var lastPlayed: Date?
    // For each day with a result: the first solved one's moment, or nil when none was solved.
    var days: [Int: Date?] = [:]
    for result in results where result.gameId == gameId {
      played += 1
      lastPlayed = max(lastPlayed ?? result.date, result.date)
      let day = PuzzleDay(result.date, calendar).number
      let earlier = days[day] ?? nil
      if result.completed {
        completed += 1
        days[day] = .some(min(earlier ?? result.date, result.date))
      } else {
        days[day] = .some(earlier)
      }
    }
    let solved = days.compactMapValues { $0 }
    let current = currentRun(days, solved, present)
    return GameStreak(
      gameId: gameId, gameName: gameName, currentStreak: current.length,
      maxStreak: longestRun(solved.keys.filter { $0 <= present }.sorted()),
      totalGamesPlayed: played, totalGamesCompleted: completed, lastPlayedDate: lastPlayed,
      streakStartDate: current.start)
  }

  private static func currentRun(
    _ days: [Int: Date?], _ solved: [Int: Date], _ today: Int
  ) -> (length: Int, start: Date?) {
    // Played today without success: the streak is over, whatever yesterday brought.
    let last = days[today] == nil ? today - 1 : today
    var length = 0
    var start: Date?
    while let date = solved[last - length] {
      start = date
      length += 1
    }
    return (length, start)
  }

  private static func longestRun(_ days: [Int]) -> Int {
    var longest = 0
    var length = 0
    var previous: Int?
    for day in days {
      length = previous == day - 1 ? length + 1 : 1
      longest = max(longest, length)
      previous = day
    }
    return longest
  }
}
