import CommandLineKit
import Foundation
import IdeaStore

/// An idea as `--json` shows it.
struct IdeaDocument: Encodable {
  var id: UUID
  var title: String
  var description: String
  var isCompleted: Bool
  var createdAt: Date
  var updatedAt: Date
  var deviceId: String
  var version: Int
  var isPendingSync: Bool
  var remoteVersion: Int?
  var lastSyncedAt: Date?
  var heldBack: String?

  init(_ idea: Idea, _ state: IdeaSyncState?) {
    id = idea.id
    title = idea.title
    description = idea.description
    isCompleted = idea.isCompleted
    createdAt = idea.createdAt
    updatedAt = idea.updatedAt
    deviceId = idea.deviceId
    version = idea.version
    isPendingSync = state?.isPendingSync ?? true
    remoteVersion = state?.remoteVersion
    lastSyncedAt = state?.lastSyncedAt
    heldBack = state?.heldBack
  }

  /// One line for people.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init("\(id)", .dim), "\(timestamp(updatedAt))",
      .init(
        "\(isPendingSync ? "*" : " ") \(isCompleted ? "[x]" : "[ ]") \(title)",
        isPendingSync ? .yellow : isCompleted ? .green : .plain),
    ]
  }

  /// Everything, for people.
  var details: String {
    var lines = [
      "id: \(id)", "title: \(printable(title))", "completed: \(isCompleted ? "yes" : "no")",
      "created: \(timestamp(createdAt))",
      "updated: \(timestamp(updatedAt)), version \(version), on \(printable(deviceId))",
      isPendingSync
        ? "waiting to be sent" : "synced: \(lastSyncedAt.map(timestamp) ?? "at another time")",
    ]
    if let heldBack { lines.append("held back: \(printable(heldBack))") }
    if !description.isEmpty {
      lines.append("")
      lines += description.split(separator: "\n", omittingEmptySubsequences: false).map {
        printable($0)
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// All ideas as `--json` shows them.
struct IdeasDocument: Encodable {
  var ideas: [IdeaDocument]
  var total: Int
  var unsent: Int
}

/// What an import did.
struct IdeaImportDocument: Encodable {
  var added: [UUID]
  var duplicates: Int
  var problems: [String]
  var ignoredColumns: [String]
}

/// A line of the sync log.
struct IdeaLogDocument: Encodable {
  var date: Date
  var operation: String
  var idea: UUID?
  var message: String

  init(_ entry: IdeaLogEntry) {
    date = entry.date
    operation = entry.operation.rawValue
    idea = entry.ideaID
    message = entry.message
  }

  /// A row of a table.
  var cells: [Table.Cell] {
    let isBad = operation == "failure" || operation == "damage"
    return [
      .init(timestamp(date), .dim), .init(operation, isBad ? .red : .plain),
      .init(idea.map { "\(String($0.uuidString.prefix(8))): \(message)" } ?? message),
    ]
  }
}

/// Where the sync of ideas stands.
struct IdeasStatusDocument: Encodable {
  var account: String?
  var ideas: Int
  var completed: Int
  var deleted: Int
  var pending: Int
  var heldBack: Int
  var unreadable: Int
  var lastSync: Date?
  var damage: String?

  /// Some lines for people.
  var words: String {
    var lines = [
      "account: \(account.map(printable) ?? "none")",
      "ideas: \(ideas), \(completed) completed, \(deleted) deleted",
      "waiting to be sent: \(pending)\(heldBack > 0 ? ", \(heldBack) of them held back" : "")",
      "last sync: \(lastSync.map(timestamp) ?? "never")",
    ]
    if unreadable > 0 { lines.append("records of a newer version: \(unreadable), not shown") }
    if let damage { lines.append(printable(damage)) }
    return lines.joined(separator: "\n")
  }
}

/// What a sync of ideas did.
struct IdeasReport: SyncReport {
  var ideas: Int
  var sent: Int
  var received: Int
  var conflicts: Int
  var unsent: Int
  var heldBack: Int

  /// What was done since `before`; the counts begin anew when the account changed.
  init(_ status: IdeaSyncStatus, since before: IdeaSyncStatus, ideas: Int) {
    self.ideas = ideas
    sent = max(0, status.sent - before.sent)
    received = max(0, status.received - before.received)
    conflicts = max(0, status.conflicts - before.conflicts)
    unsent = status.pending
    heldBack = status.heldBack
  }

  var words: String {
    var parts = ["sent \(sent), received \(received)"]
    if conflicts > 0 { parts.append("\(count(conflicts, "conflict")): the later change stays") }
    if heldBack > 0 { parts.append("\(heldBack) held back") }
    return "ideas: " + parts.joined(separator: " · ")
  }
}
