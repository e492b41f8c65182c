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
  var words: String {
    let day = timestamp(date).prefix(10)
    let score = score.map { "\($0)" } ?? "–"
    let best = maxAttempts > 0 ? "/\(maxAttempts)" : ""
    return "\(id)  \(day)  \(printable(game)) \(score)\(best)\(completed ? "" : " (not solved)")"
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
}

/// Where sync of the results stands, as `--json` shows it.
struct ResultsStatusDocument: Encodable {
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

extension Session {
  /// Carries out a verb of `results`.
  func perform(_ verb: ResultsVerb, _ output: Output) async throws {
    let store = try results(verb == .sync ? await connect() : link())
    switch verb {
    case .add:
      let before = store.results.count
      let result = try store.add(sharedText: try TextSource.standardInput.read())
      let isNew = store.results.count > before
      try output.result(
        ResultDocument(result),
        (isNew ? "added " : "known already: ") + ResultDocument(result).words)
    case .importFrom(let path):
      let report = try store.importResults(from: try readText(path))
      try output.result(
        ResultImportDocument(
          added: report.added.map(ResultDocument.init), duplicates: report.duplicates,
          problems: report.problems.map(\.description)),
        "\(count(report.added.count, "result")) added, \(report.duplicates) known already, "
          + "\(report.problems.count) unreadable")
      for problem in report.problems { output.note(problem.description) }
    case .list(let name):
      let game = try name.map(game)
      let documents = store.results.filter { game == nil || $0.gameId == game?.id }
        .map(ResultDocument.init)
      try output.result(
        ["results": documents],
        documents.isEmpty ? store.status.emptyText : documents.map(\.words).joined(separator: "\n"))
    case .streaks(let name):
      let streaks = store.streaks(game: try name.map(game)).map(StreakDocument.init)
      try output.result(
        ["streaks": streaks],
        streaks.isEmpty
          ? store.status.emptyText
          : streaks.map {
            "\(printable($0.game)): now \($0.current), longest \($0.longest), "
              + "\($0.completed) of \($0.played) solved"
          }.joined(separator: "\n"))
    case .delete(let prefix):
      let id = try find(prefix, in: store.results.map(\.id), "result")
      try store.delete(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    case .sync:
      let document = try await syncResults(store)
      try output.result(document, document.words)
    case .status:
      let document = statusDocument(store, state: nil)
      try output.result(
        document,
        """
        account: \(account.map(printable) ?? "none")
        results: \(document.results)
        waiting to be sent: \(document.waiting)
        last sync: \(document.lastSync.map(timestamp) ?? "never")
        """)
    }
  }

  /// Syncs the results now.
  ///
  /// - Throws: `ToolError` with the store's message when sync did not succeed.
  func syncResults(_ store: GameResultStore) async throws -> ResultsStatusDocument {
    try store.start()
    let state = try await store.syncNow()
    await store.stop()
    switch state {
    case .synced, .syncing: return statusDocument(store, state: "synced")
    case .offline:
      throw ToolError(
        account == nil
          ? "no account is signed in on this device; run: stores account switch NAME"
          : store.status.message ?? "the server can't be reached")
    case .failed(let failure): throw ToolError("\(failure)")
    }
  }

  private func statusDocument(_ store: GameResultStore, state: String?) -> ResultsStatusDocument {
    let status = store.status
    return ResultsStatusDocument(
      state: state ?? (status.hasSyncedBefore ? "synced before" : "never synced"),
      message: status.message, waiting: status.waiting, refused: status.refused,
      results: store.results.count, lastSync: status.lastSync, account: account)
  }

  private func game(_ name: String) throws(ToolError) -> Game {
    guard let game = Game.named(name) else {
      throw ToolError(
        "there is no game \(quoted(name)); there are "
          + Game.all.map(\.name).joined(separator: ", "))
    }
    return game
  }
}

/// What an import of share texts did.
struct ResultImportDocument: Encodable {
  var added: [ResultDocument]
  var duplicates: Int
  var problems: [String]
}
