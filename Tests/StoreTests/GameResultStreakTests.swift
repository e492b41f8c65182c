import Foundation
import Testing

@testable import GameResultStore
@testable import ShareTexts

@Suite("Streaks")
struct GameResultStreakTests {
  /// Days of play, counted back from today: `0` is today, `1` yesterday; with `x` not solved.
  struct Case: Sendable, CustomTestStringConvertible {
    var days: String
    var current: Int
    var longest: Int
    var played: Int
    var completed: Int
    var start: Int?
    var testDescription: String { "days \(days.isEmpty ? "none" : days)" }
  }

  static let cases: [Case] = [
    Case(days: "", current: 0, longest: 0, played: 0, completed: 0),
    Case(days: "0", current: 1, longest: 1, played: 1, completed: 1, start: 0),
    Case(days: "1", current: 1, longest: 1, played: 1, completed: 1, start: 1),
    Case(days: "2", current: 0, longest: 1, played: 1, completed: 1),
    Case(days: "0 1 2", current: 3, longest: 3, played: 3, completed: 3, start: 2),
    Case(days: "2 0 1", current: 3, longest: 3, played: 3, completed: 3, start: 2),
    Case(days: "1 2 3", current: 3, longest: 3, played: 3, completed: 3, start: 3),
    Case(days: "0 0 0 1 1", current: 2, longest: 2, played: 5, completed: 5, start: 1),
    Case(days: "0x", current: 0, longest: 0, played: 1, completed: 0),
    Case(days: "0x 1 2", current: 0, longest: 2, played: 3, completed: 2),
    Case(days: "0 1x 2", current: 1, longest: 1, played: 3, completed: 2, start: 0),
    Case(days: "0 0x 1", current: 2, longest: 2, played: 3, completed: 2, start: 1),
    Case(days: "0 2 3 4", current: 1, longest: 3, played: 4, completed: 4, start: 0),
    Case(days: "1x 2 3", current: 0, longest: 2, played: 3, completed: 2),
    Case(days: "0 1 5 6 7 8 20", current: 2, longest: 4, played: 7, completed: 7, start: 1),
    Case(days: "-1 0 1", current: 2, longest: 2, played: 3, completed: 3, start: 1),
    Case(days: "-1 0x", current: 0, longest: 0, played: 2, completed: 1),
    Case(days: "-300", current: 0, longest: 0, played: 1, completed: 1),
  ]

  static func result(_ date: Date, completed: Bool, game: Game = .wordle) -> GameResult {
    GameResult(
      id: UUID(), gameId: game.id, gameName: game.name, date: date,
      score: completed ? 3 : nil, maxAttempts: 6, completed: completed, sharedText: "")
  }

  /// Places whose days are not all 24 hours long, some without a midnight, and UTC.
  static let zones = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Asia/Tehran"]

  @Test(
    "G: Streaks count consecutive days with results, in each time zone", arguments: cases,
    zones)
  func streaksCountConsecutiveDays(_ example: Case, _ zone: String) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    // Todays around the changes of clocks, early and late in the day.
    let todays = ["2026-11-03T23:30", "2026-03-30T00:10", "2018-11-05T01:30", "2011-12-31T12:00"]
    for text in todays {
      let parts = text.split(whereSeparator: { "-T:".contains($0) }).compactMap { Int($0) }
      let today = try #require(
        calendar.date(
          from: DateComponents(
            year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4])))
      func date(_ back: Int) throws -> Date {
        let day = PuzzleDay(today, calendar).adding(-back)
        return try #require(day.noon(calendar))
      }
      let results = try example.days.split(separator: " ").map { word in
        let back = try #require(Int(word.replacing("x", with: "")))
        return Self.result(try date(back), completed: !word.hasSuffix("x"))
      }
      // Samoa had no 30 December 2011: noon of that day is another day there.
      guard zone != "Pacific/Apia" || parts[0] != 2011 else { continue }
      let other = Self.result(today, completed: true, game: .zip)
      let streak = GameStreak.compute(
        from: results + [other], gameId: Game.wordle.id, gameName: "Wordle", today: today,
        calendar: calendar)
      let told = [
        streak.currentStreak, streak.maxStreak, streak.totalGamesPlayed,
        streak.totalGamesCompleted,
      ]
      let expected = [example.current, example.longest, example.played, example.completed]
      #expect(told == expected, "in \(zone) on \(text)")
      #expect(try streak.streakStartDate == example.start.map(date), "in \(zone) on \(text)")
      #expect(streak.lastPlayedDate == results.map(\.date).max())
    }
  }

  @Test("Days are numbered without gaps over eight centuries")
  func dayNumbersHaveNoGaps() throws {
    var day = try #require(PuzzleDay(1900, 1, 1))
    var faults: [String] = []
    for number in -25_567...266_000 {
      let parts = day.text.split(separator: "-").compactMap { Int($0) }
      if day.number != number || PuzzleDay(parts[0], parts[1], parts[2]) != day {
        faults.append(day.text)
      }
      day = day.adding(1)
    }
    #expect(faults.isEmpty)
    #expect(PuzzleDay(2026, 2, 29) == nil && PuzzleDay(2024, 2, 29) != nil)
    #expect(PuzzleDay(2021, 6, 19)?.adding(1_963).text == "2026-11-03")
  }
}
