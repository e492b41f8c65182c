import AchievementStore
import CommandLineKit
import Foundation
import GameResultStore

extension Store {
  /// What a person has reached.
  static let achievements = Store(
    "achievements", AchievementsApp.self,
    summary: "what you have reached, merged and never lost; off at first",
    verbs: [listAchievements, earn, countResults, syncAchievements, achievementStatus],
    notes: """
      Progress never goes down. Devices agree on the higher progress, the higher tier, and the
      later of two dates for each tier.
      """,
    watching: Watching(noun: "achievement", changed: "reached") { app in
      app.store.achievements.compactMap(AchievementDocument.init).map {
        .init(id: $0.name, state: $0.words, document: $0, words: $0.words)
      }
    },
    completing: ["NAME": .fixed(AchievementDefinition.all.map(\.name))],
    act: .achievements)

  private static let listAchievements = Verb(
    "list", "all achievements, and how far you are", on: AchievementsApp.self
  ) { _ in
    { app, output in
      let documents = app.store.achievements.compactMap(AchievementDocument.init)
      try output.result(
        ["achievements": documents],
        Table(
          [.init("NAME"), .init("TIER"), .init("PROGRESS"), .init("WHAT", .text, isDetail: true)],
          documents.map(\.cells)), empty: "there are no achievements")
    }
  }

  private static let earn = Verb(
    "earn NAME PROGRESS", "note how much was counted for an achievement",
    on: AchievementsApp.self
  ) { arguments in
    let name = try arguments.word("the achievement's name")
    let text = try arguments.word("how much was counted")
    guard let value = Int(text), value >= 0 else {
      throw UsageError("progress is a whole number, not \(quoted(text))")
    }
    return { app, output in
      guard let definition = AchievementDefinition.named(name) else {
        throw ToolError(
          "there is no achievement \(quoted(name)); there are "
            + AchievementDefinition.all.map(\.name).joined(separator: ", "))
      }
      let achievement = try app.store.note(progress: value, of: definition.id)
      let document = AchievementDocument(achievement)
      try output.result(document, document?.words ?? "")
    }
  }

  private static let countResults = Verb(
    "import", "count what the game results on this device give"
  ) { _ in
    { invocation in
      try await invocation.withSession { session in
        let results = try session.app(ResultsApp.self).store
        let app = try session.app(AchievementsApp.self)
        let before = app.store.stored
        for (name, value) in counts(results) {
          guard value > 0, let definition = AchievementDefinition.named(name) else { continue }
          try app.store.note(progress: value, of: definition.id)
        }
        let changed = app.store.stored.filter { !before.contains($0) }
        let documents = changed.compactMap(AchievementDocument.init)
        try invocation.output.result(
          ["achievements": documents],
          documents.isEmpty
            ? "nothing new was reached" : documents.map(\.words).joined(separator: "\n"))
      }
    }
  }

  /// What each achievement counts, over all results.
  private static func counts(_ store: GameResultStore) -> [(String, Int)] {
    let results = store.results
    let days = Dictionary(grouping: results) { String(timestamp($0.date).prefix(10)) }
    let attempts = results.filter { Game.with(id: $0.gameId)?.scoring == .attempts }
    return [
      ("played", results.count), ("solved", results.filter(\.completed).count),
      ("regular", days.count), ("explorer", Set(results.map(\.gameId)).count),
      ("all-round", days.values.map { Set($0.map(\.gameId)).count }.max() ?? 0),
      ("streak", store.streaks().map(\.maxStreak).max() ?? 0),
      ("perfect", attempts.filter { $0.completed && $0.score == 1 }.count),
      (
        "comeback",
        attempts.filter { $0.completed && $0.maxAttempts > 1 && $0.score == $0.maxAttempts }.count
      ),
    ]
  }

  private static let syncAchievements = Verb(
    "sync [on|off]",
    "fetch and send now; or turn sync on or off on this device:\n"
      + "it is off at first, and off keeps the achievements"
  ) { arguments in
    switch arguments.word() {
    case nil: return Verb.syncing(AchievementsApp.self)
    case "on": return setAchievementSync(isOn: true)
    case "off": return setAchievementSync(isOn: false)
    case let word?: throw UsageError("sync is turned on or off, not \(quoted(word))")
    }
  }

  private static func setAchievementSync(isOn: Bool) -> Verb.Action {
    { invocation in
      try await invocation.withSession { session in
        let store = try session.app(AchievementsApp.self).store
        try store.setEnabled(isOn)
        if isOn { try await store.shutDown() }
      }
      try invocation.output.result(["sync": isOn], "sync is \(isOn ? "on" : "off")")
    }
  }

  private static let achievementStatus = Verb(
    "status", "where sync stands", on: AchievementsApp.self
  ) { _ in
    { app, output in
      let document = AchievementStatusDocument(app.store)
      try output.result(
        document,
        ([
          "sync: \(document.sync ? "on" : "off")", "state: \(document.state)",
          "unlocked: \(document.unlocked) of \(document.achievements)",
          "last sync: \(document.lastSync.map(timestamp) ?? "never")",
          "last pushed: \(document.lastUpdated.map(timestamp) ?? "never")",
        ] + document.notices.map(printable)).joined(separator: "\n"))
    }
  }
}
