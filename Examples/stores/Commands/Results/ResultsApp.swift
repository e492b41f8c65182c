import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport

/// The collection of puzzle results.
struct ResultsApp: StoreApp {
  static let name = "results"
  static let recordTypes = ["GameResult"]

  let store: GameResultStore
  private let account: String?

  init(_ place: AppPlace) throws {
    account = place.device.account
    store = try GameResultStore(
      directory: place.directory, container: place.device.link().container)
  }

  var inventory: [(count: Int, noun: String)] { [(store.results.count, "result")] }

  var unsent: Int { store.status.waiting }

  func start() throws { try store.start() }

  func sync() async throws -> any SyncReport {
    switch try await store.syncNow() {
    case .synced, .syncing: return status("synced")
    case .offline:
      throw ToolError(
        account == nil
          ? "no account is signed in on this device; run: stores account switch NAME"
          : store.status.message ?? "the server can't be reached")
    case .failed(let failure): throw ToolError("\(failure)")
    }
  }

  func stop() async { await store.stop() }

  func seen() -> RecordTable {
    var table = RecordTable()
    for result in store.results { table.add(result.record()) }
    return table
  }

  var traces: Traces {
    Traces(
      names: store.results.map(\.id.uuidString), texts: store.results.map(\.sharedText))
  }

  /// What to say where results would be.
  ///
  /// The store's own words are for an app that is syncing; a command is not.
  var emptyText: String {
    let status = store.status
    return status.state == .syncing && !status.hasSyncedBefore
      ? "no results yet; to get those of other devices, run: stores results sync"
      : status.emptyText
  }

  /// Where sync stands, as `state` or in the store's own words.
  func status(_ state: String?) -> ResultsStatusDocument {
    let status = store.status
    return ResultsStatusDocument(
      state: state ?? (status.hasSyncedBefore ? "synced before" : "never synced"),
      message: status.message, waiting: status.waiting, refused: status.refused,
      results: store.results.count, lastSync: status.lastSync, account: account)
  }
}
