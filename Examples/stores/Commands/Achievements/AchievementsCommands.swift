import AchievementStore
import CommandLineKit
import Foundation
import GameResultStore

private let verb = Verbs<AchievementsApp>()

extension Store {
  static let achievements = Store(
    "achievements",
    watching: Watching<AchievementsApp>(noun: "achievement", changed: "reached") { app in
      app.store.achievements.compactMap { achievement in
        Row(achievement).map { .init($0.cells[0].text, $0) }
      }
    },
    completing: ["NAME": .fixed(AchievementDefinition.all.map(\.name))],
    act: .achievements
  ) {
    verb("list") { app, output in
      try output.list(
        "achievements", app.store.achievements.compactMap { Row($0) },
        [.init("NAME"), .init("TIER"), .init("PROGRESS"), .init("WHAT", .text, isDetail: true)],
        empty: "there are no achievements")
    }
    verb("earn", .word("the achievement's name"), progress) { app, output, name, value in
      let row = Row(try app.earn(name, value))
      try output.result(row?.document, row?.words ?? "")
    }
    Verb.inSession("import") { session, output in
      let app = try session.app(AchievementsApp.self)
      let before = app.store.stored
      for (name, value) in counts(try session.app(ResultsApp.self).store) where value > 0 {
        try app.earn(name, value)
      }
      let rows = app.store.stored.filter { !before.contains($0) }.compactMap { Row($0) }
      try output.result(
        ["achievements": rows.map(\.document)],
        rows.isEmpty
          ? "nothing new was reached" : rows.map(\.words).joined(separator: "\n"))
    }
    verb.sync { app, isOn in
      try app.store.setEnabled(isOn)
      if isOn { try await app.store.shutDown() }
    }
    verb.status { $0.status }
  }

  private static let progress = Parameter.word(
    "how much was counted", "progress is a whole number", parse: wholeNumber)

  /// The value of each achievement, computed from all results.
  private static func counts(_ store: GameResultStore) -> [(String, Int)] {
    let results = store.results
    let days = Dictionary(grouping: results) { String(timestamp($0.date).prefix(10)) }
    let solved = results.filter(\.completed)
    let guessed = solved.filter { Game.with(id: $0.gameId)?.scoring == .attempts }
    return [
      ("played", results.count), ("solved", solved.count), ("regular", days.count),
      ("explorer", Set(results.map(\.gameId)).count),
      ("all-round", days.values.map { Set($0.map(\.gameId)).count }.max() ?? 0),
      ("streak", store.streaks().map(\.maxStreak).max() ?? 0),
      ("perfect", guessed.count { $0.score == 1 }),
      ("comeback", guessed.count { $0.maxAttempts > 1 && $0.score == $0.maxAttempts }),
    ]
  }
}
