import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

/// A result as `--json` shows it.
struct ResultDocument: Encodable {
  var id: UUID
  var game: String
  var date: Date
  var score: Int?
  var maxAttempts: Int
  var completed: Bool

  init(_ result: GameResult) {
    id = result.id
    game = result.gameName
    date = result.date
    score = result.score
    maxAttempts = result.maxAttempts
    completed = result.completed
  }

  /// One line for people.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    let day = timestamp(date).prefix(10)
    let score = score.map { "\($0)" } ?? "–"
    let best = maxAttempts > 0 ? "/\(maxAttempts)" : ""
    return [
      .init("\(id)", .dim), "\(String(day))",
      .init(
        "\(game) \(score)\(best)\(completed ? "" : " (not solved)")",
        completed ? .green : .plain),
    ]
  }
}

/// A streak as `--json` shows it.
struct StreakDocument: Encodable {
  var game: String
  var current: Int
  var longest: Int
  var played: Int
  var completed: Int

  init(_ streak: GameStreak) {
    game = streak.gameName
    current = streak.currentStreak
    longest = streak.maxStreak
    played = streak.totalGamesPlayed
    completed = streak.totalGamesCompleted
  }

  /// The columns of a table of streaks.
  static let columns: [Table.Column] = [
    .init("GAME", .text), .init("NOW", .number), .init("LONGEST", .number),
    .init("SOLVED", .number), .init("PLAYED", .number, isDetail: true),
  ]

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init(game), .init("\(current)", current > 0 ? .green : .dim), "\(longest)",
      "\(completed)", "\(played)",
    ]
  }
}

/// Where sync of the results stands, as `--json` shows it.
struct ResultsStatusDocument: SyncReport {
  var state: String
  var message: String?
  var waiting: Int
  var refused: Int
  var results: Int
  var lastSync: Date?
  var account: String?

  /// One line for people, after a sync.
  var words: String { "results: \(count(results, "result")), \(waiting) waiting" }
}

/// What an import of share texts did.
struct ResultImportDocument: Encodable {
  var added: [ResultDocument]
  var duplicates: Int
  var problems: [String]
}
