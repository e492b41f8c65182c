import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

struct ResultsApp: StoreApp {
  static let name = "results"
  static let recordTypes = ["GameResult"]

  let store: GameResultStore
  private let place: AppPlace

  init(_ place: AppPlace) throws {
    self.place = place
    store = try GameResultStore(directory: place.directory, container: place.container())
  }

  var inventory: [(count: Int, noun: String)] { [(store.results.count, "result")] }

  var unsent: Int { store.status.waiting }

  func start() throws { try store.start() }

  func sync() async throws -> SyncReport {
    switch try await store.syncNow() {
    case .syncing: throw place.failure("the account changed meanwhile; run the command again")
    case .synced:
      return SyncReport(
        status("synced").document,
        "results: \(count(store.results.count, "result")), \(store.status.waiting) waiting")
    case .offline: throw place.failure(store.status.message ?? "the server can't be reached")
    case .failed(let failure): throw ToolError("\(failure)")
    }
  }

  func stop() async { await store.stop() }

  var seen: RecordTable { RecordTable(store.results.map { $0.record() }) }

  var traces: Traces {
    Traces(names: store.results.map(\.id.uuidString), texts: store.results.map(\.sharedText))
  }

  /// The text for an empty list.
  ///
  /// The store's own text is for an app that is syncing; a command is not.
  var emptyText: String {
    let status = store.status
    return status.state == .syncing && !status.hasSyncedBefore
      ? "no results yet; to get those of other devices, run: stores results sync"
      : status.emptyText
  }

  /// The state of the sync; `state` names it.
  func status(_ state: String) -> SyncReport {
    let status = store.status
    return SyncReport([
      ("account", place.device.account, place.accountLine),
      ("state", state, nil),
      ("message", status.message, nil),
      ("results", store.results.count, "results: \(store.results.count)"),
      ("waiting", status.waiting, "waiting to be sent: \(status.waiting)"),
      ("refused", status.refused, nil),
      ("lastSync", status.lastSync, lastSyncLine(status.lastSync)),
    ])
  }
}

extension Row {
  init(_ result: GameResult) {
    let score = result.score.map { "\($0)" } ?? "–"
    let best = result.maxAttempts > 0 ? "/\(result.maxAttempts)" : ""
    let mark = result.completed ? "" : " (not solved)"
    self.init(
      [
        "id": result.id, "game": result.gameName, "date": result.date, "score": result.score,
        "maxAttempts": result.maxAttempts, "completed": result.completed,
      ],
      [
        .init("\(result.id)", .dim), .init(String(timestamp(result.date).prefix(10))),
        .init("\(result.gameName) \(score)\(best)\(mark)", result.completed ? .green : .plain),
      ])
  }

  init(_ streak: GameStreak) {
    let (current, longest) = (streak.currentStreak, streak.maxStreak)
    let (solved, played) = (streak.totalGamesCompleted, streak.totalGamesPlayed)
    self.init(
      [
        "game": streak.gameName, "current": current, "longest": longest, "played": played,
        "completed": solved,
      ],
      [
        .init(streak.gameName), .init("\(current)", current > 0 ? .green : .dim), "\(longest)",
        "\(solved)", "\(played)",
      ])
  }
}
