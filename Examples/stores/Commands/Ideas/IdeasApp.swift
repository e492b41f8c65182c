import CommandLineKit
import Foundation
import IdeaStore
import SyncSupport

struct IdeasApp: StoreApp {
  static let name = "ideas"

  let store: IdeaStore
  private let place: AppPlace

  init(_ place: AppPlace) throws {
    self.place = place
    store = try IdeaStore(
      directory: place.directory, container: place.container(), deviceID: place.device.name,
      automaticallySync: false)
  }

  var inventory: [(count: Int, noun: String)] {
    let deleted = store.deletedIdeas.count
    return [(store.ideas.count, "idea")] + (deleted > 0 ? [(deleted, "deleted idea")] : [])
  }

  var unsent: Int { store.status.pending }

  func start() { store.start() }

  func sync() async throws -> SyncReport {
    let before = store.status
    let status = try await store.syncNow()
    guard status.phase == .synced else {
      throw place.failure(status.message ?? "the sync did not end")
    }
    // The counts begin at 0 again when the account changes.
    let sent = max(0, status.sent - before.sent)
    let received = max(0, status.received - before.received)
    let conflicts = max(0, status.conflicts - before.conflicts)
    var parts = ["sent \(sent), received \(received)"]
    if conflicts > 0 { parts.append("\(count(conflicts, "conflict")): the later change stays") }
    if status.heldBack > 0 { parts.append("\(status.heldBack) held back") }
    return SyncReport(
      [
        "ideas": store.ideas.count, "sent": sent, "received": received, "conflicts": conflicts,
        "unsent": status.pending, "heldBack": status.heldBack,
      ], "ideas: " + parts.joined(separator: " · "))
  }

  func stop() async { await store.stop() }

  var seen: RecordTable {
    RecordTable(store.ideas.map { ("Idea/\($0.id.uuidString)", $0.canonicalText) })
  }

  var traces: Traces {
    let ideas = store.ideas + store.deletedIdeas.map(\.idea)
    return Traces(
      names: ideas.map(\.id.uuidString),
      texts: ideas.flatMap { [$0.title, $0.description] }.filter { !$0.isEmpty })
  }

  var status: SyncReport {
    let status = store.status
    let (ideas, deleted) = (store.ideas.count, store.deletedIdeas.count)
    let completed = store.ideas.count(where: \.isCompleted)
    let (heldBack, unreadable) = (status.heldBack, status.unreadable)
    return SyncReport([
      ("account", place.device.account, place.accountLine),
      ("ideas", ideas, "ideas: \(ideas), \(completed) completed, \(deleted) deleted"),
      ("completed", completed, nil),
      ("deleted", deleted, nil),
      (
        "pending", status.pending,
        "waiting to be sent: \(status.pending)"
          + (heldBack > 0 ? ", \(heldBack) of them held back" : "")
      ),
      ("heldBack", heldBack, nil),
      ("lastSync", status.lastSync, lastSyncLine(status.lastSync)),
      (
        "unreadable", unreadable,
        unreadable > 0 ? "records of a newer version: \(unreadable), not shown" : nil
      ),
      ("damage", status.damage, status.damage.map(printable)),
    ])
  }

  func row(_ idea: Idea) -> Row {
    let state = store.syncState(of: idea.id)
    let isPending = state?.isPendingSync ?? true
    let marks = "\(isPending ? "*" : " ") \(idea.isCompleted ? "[x]" : "[ ]")"
    return Row(
      [
        "id": idea.id, "title": idea.title, "description": idea.description,
        "isCompleted": idea.isCompleted, "createdAt": idea.createdAt,
        "updatedAt": idea.updatedAt, "deviceId": idea.deviceId, "version": idea.version,
        "isPendingSync": isPending, "remoteVersion": state?.remoteVersion,
        "lastSyncedAt": state?.lastSyncedAt, "heldBack": state?.heldBack,
      ],
      [
        .init("\(idea.id)", .dim), .init(timestamp(idea.updatedAt)),
        .init(
          "\(marks) \(idea.title)", isPending ? .yellow : idea.isCompleted ? .green : .plain),
      ])
  }

  /// All of an idea in lines of text.
  func details(_ idea: Idea) -> String {
    let state = store.syncState(of: idea.id)
    var lines = [
      "id: \(idea.id)", "title: \(printable(idea.title))",
      "completed: \(idea.isCompleted ? "yes" : "no")", "created: \(timestamp(idea.createdAt))",
      "updated: \(timestamp(idea.updatedAt)), version \(idea.version), "
        + "on \(printable(idea.deviceId))",
      state?.isPendingSync ?? true
        ? "waiting to be sent"
        : "synced: \(state?.lastSyncedAt.map(timestamp) ?? "at another time")",
    ]
    if let heldBack = state?.heldBack { lines.append("held back: \(printable(heldBack))") }
    if !idea.description.isEmpty {
      lines += [""]
      lines += idea.description.split(separator: "\n", omittingEmptySubsequences: false).map {
        printable($0)
      }
    }
    return lines.joined(separator: "\n")
  }
}
