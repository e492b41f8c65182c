import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

private let verb = Verbs<ResultsApp>()

extension Store {
  static let results = Store(
    "results",
    watching: Watching<ResultsApp>(noun: "result", removed: "deleted") { app in
      app.store.results.map { .init($0.id.uuidString, Row($0)) }
    },
    completing: ["GAME": .fixed(Game.all.map(\.name))],
    act: .results
  ) {
    Verb("add") { arguments in
      // The text is always read from standard input; `-` is optional.
      if arguments.nextWord == "-" { _ = arguments.word() }
      return verb.action { app, output in
        let before = app.store.results.count
        let row = Row(try app.store.add(sharedText: try TextSource.standardInput.read()))
        let isNew = app.store.results.count > before
        try output.result(isNew ? "added" : "known already:", row)
      }
    }
    verb("import", .word("a file with share texts")) { app, output, path in
      let report = try app.store.importResults(from: try TextSource.file(path).read())
      let document: Document = [
        "added": report.added.map { Row($0).document }, "duplicates": report.duplicates,
        "problems": report.problems.map(\.description),
      ]
      try output.result(
        document,
        "\(count(report.added.count, "result")) added, \(report.duplicates) known already, "
          + "\(report.problems.count) unreadable")
      for problem in report.problems { output.note(problem.description) }
    }
    verb("list", .option("game")) { app, output, name in
      let game = try name.map(game)
      let results = app.store.results.filter { game == nil || $0.gameId == game?.id }
      try output.list(
        "results", results.map { Row($0) },
        [.init("ID", .id), .init("DAY"), .init("RESULT", .text)], empty: app.emptyText)
    }
    verb("streaks", .optionalWord) { app, output, name in
      try output.list(
        "streaks", app.store.streaks(game: try name.map(game)).map { Row($0) },
        [
          .init("GAME", .text), .init("NOW", .number), .init("LONGEST", .number),
          .init("SOLVED", .number), .init("PLAYED", .number, isDetail: true),
        ], empty: app.emptyText)
    }
    verb("delete", on: result) { app, output, result in
      try app.store.delete(result.id)
      try output.result("deleted", result.id)
    }
    verb.status { $0.status($0.store.status.hasSyncedBefore ? "synced before" : "never synced") }
  }

  private static let result = NamedItem<ResultsApp, GameResult>("the result's ID", "result") {
    $0.store.results
  }

  private static func game(_ name: String) throws(ToolError) -> Game {
    guard let game = Game.named(name) else {
      throw ToolError(
        "there is no game \(quoted(name)); there are "
          + Game.all.map(\.name).joined(separator: ", "), code: ExitCode.unknownName)
    }
    return game
  }
}
