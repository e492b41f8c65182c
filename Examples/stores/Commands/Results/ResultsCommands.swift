import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

extension Store {
  /// Results of daily puzzles.
  static let results = Store(
    "results", ResultsApp.self,
    summary: "results of daily puzzles, from the texts people share",
    verbs: [addResult, importResults, listResults, showStreaks, deleteResult, showStatus],
    watching: Watching(noun: "result", removed: "deleted") { app in
      app.store.results.map { result in
        let document = ResultDocument(result)
        return .init(
          id: result.id.uuidString, state: document.words, document: document,
          words: document.words)
      }
    },
    completing: ["GAME": .fixed(Game.all.map(\.name))],
    act: .results)

  private static let addResult = Verb(
    "add [-]", "one share text, on standard input", on: ResultsApp.self
  ) { arguments in
    // The text comes on standard input; a lone dash says the same.
    if arguments.nextWord == "-" { _ = arguments.word() }
    return { app, output in
      let before = app.store.results.count
      let result = try app.store.add(sharedText: try TextSource.standardInput.read())
      let isNew = app.store.results.count > before
      try output.result(
        ResultDocument(result),
        (isNew ? "added " : "known already: ") + ResultDocument(result).words)
    }
  }

  private static let importResults = Verb(
    "import FILE", "all share texts in a file", on: ResultsApp.self
  ) { arguments in
    let path = try arguments.word("a file with share texts")
    return { app, output in
      let report = try app.store.importResults(from: try readText(path))
      try output.result(
        ResultImportDocument(
          added: report.added.map(ResultDocument.init), duplicates: report.duplicates,
          problems: report.problems.map(\.description)),
        "\(count(report.added.count, "result")) added, \(report.duplicates) known already, "
          + "\(report.problems.count) unreadable")
      for problem in report.problems { output.note(problem.description) }
    }
  }

  private static let listResults = Verb(
    "list [--game GAME]", "all results, or those of a game", on: ResultsApp.self
  ) { arguments in
    let name = arguments.value("game")
    return { app, output in
      let game = try name.map(game)
      let documents = app.store.results.filter { game == nil || $0.gameId == game?.id }
        .map(ResultDocument.init)
      try output.result(
        ["results": documents],
        Table([.init("ID", .id), .init("DAY"), .init("RESULT", .text)], documents.map(\.cells)),
        empty: app.emptyText)
    }
  }

  private static let showStreaks = Verb(
    "streaks [GAME]", "computed from the results, never synced", on: ResultsApp.self
  ) { arguments in
    let name = arguments.word()
    return { app, output in
      let streaks = app.store.streaks(game: try name.map(game)).map(StreakDocument.init)
      try output.result(
        ["streaks": streaks], Table(StreakDocument.columns, streaks.map(\.cells)),
        empty: app.emptyText)
    }
  }

  private static let deleteResult = Verb(
    "delete ID", "delete a result", on: ResultsApp.self
  ) { arguments in
    let prefix = try arguments.word("the result's ID")
    return { app, output in
      let id = try find(prefix, in: app.store.results.map(\.id), "result")
      try app.store.delete(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    }
  }

  private static let showStatus = Verb(
    "status", "where sync stands, and what waits", on: ResultsApp.self
  ) { _ in
    { app, output in
      let document = app.status(nil)
      try output.result(
        document,
        """
        account: \(document.account.map(printable) ?? "none")
        results: \(document.results)
        waiting to be sent: \(document.waiting)
        last sync: \(document.lastSync.map(timestamp) ?? "never")
        """)
    }
  }

  private static func game(_ name: String) throws(ToolError) -> Game {
    guard let game = Game.named(name) else {
      throw ToolError(
        "there is no game \(quoted(name)); there are "
          + Game.all.map(\.name).joined(separator: ", "))
    }
    return game
  }
}
