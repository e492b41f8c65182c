import CloudSync
import CommandLineKit
import Foundation
import IdeaStore

/// The ideas of a device.
struct IdeasApp: StoreApp {
  static let name = "ideas"

  let store: IdeaStore
  private let account: String?

  init(_ place: AppPlace) throws {
    account = place.device.account
    store = try IdeaStore(
      directory: place.directory, container: place.device.link().container,
      deviceID: place.device.name, automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] {
    let deleted = store.deletedIdeas.count
    return [(store.ideas.count, "idea")] + (deleted > 0 ? [(deleted, "deleted idea")] : [])
  }

  var unsent: Int { store.status.pending }

  func start() { store.start() }

  func sync() async throws -> any SyncReport {
    let before = store.status
    let status = try await store.syncNow()
    switch status.phase {
    case .synced: return IdeasReport(status, since: before, ideas: store.ideas.count)
    case .waiting, .syncing, .offline, .failed:
      throw ToolError(
        account == nil
          ? "no account is signed in on this device; run: stores account switch NAME"
          : status.message ?? "the sync did not end")
    }
  }

  func stop() async { await store.stop() }

  func seen() -> RecordTable {
    var table = RecordTable()
    for idea in store.ideas { table.add("Idea/\(idea.id.uuidString)", idea.canonicalLine.utf8) }
    return table
  }

  var traces: Traces {
    let ideas = store.ideas + store.deletedIdeas.map(\.idea)
    return Traces(
      names: ideas.map(\.id.uuidString),
      texts: ideas.flatMap { [$0.title, $0.description] }.filter { !$0.isEmpty })
  }

  /// Where sync stands.
  var status: IdeasStatusDocument {
    let status = store.status
    return IdeasStatusDocument(
      account: account, ideas: store.ideas.count,
      completed: store.ideas.count(where: \.isCompleted),
      deleted: store.deletedIdeas.count, pending: status.pending, heldBack: status.heldBack,
      unreadable: status.unreadable, lastSync: status.lastSync, damage: status.damage)
  }
}
