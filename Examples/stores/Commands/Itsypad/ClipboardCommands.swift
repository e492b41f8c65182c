import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport

/// A clipboard entry as `--json` shows it.
struct EntryDocument: Encodable {
  var id: UUID
  var text: String?
  var timestamp: Date
  var unsent: Bool

  init(_ entry: ClipboardEntry, unsent: Bool) {
    id = entry.id
    text = entry.text
    timestamp = entry.timestamp
    self.unsent = unsent
  }

  /// One line for people.
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    return [
      .init("\(id)", .dim),
      .init("\(unsent ? "*" : " ") \(text ?? "(image)")", unsent ? .yellow : .plain),
    ]
  }
}

/// All entries as `--json` shows them.
struct EntriesDocument: Encodable {
  var entries: [EntryDocument]
  var total: Int
  var unsent: Int
}

extension Store {
  /// How long entries are kept when `prune` is not told.
  private static let defaultAge = 30.0 * 86_400

  /// A clipboard history.
  static let clipboard = Store(
    "clipboard", ItsypadApp.self,
    summary: "a clipboard history; entries come and go but never change",
    verbs: [addEntry, listEntries, deleteEntry, clearEntries, pruneEntries],
    notes: "At most 1,000 entries are kept; the oldest go first, on every device.",
    watching: Watching(noun: "entry", removed: "deleted") { app in
      app.clipboard.entries.map { entry in
        let document = EntryDocument(entry, unsent: false)
        return .init(id: entry.id.uuidString, state: 0, document: document, words: document.words)
      }
    },
    act: .clipboard)

  private static let addEntry = Verb(
    "add [TEXT | --text TEXT | --file FILE | -]",
    "note what was copied; without a text, reads standard input", on: ItsypadApp.self
  ) { arguments in
    let source: TextSource
    if let named = try TextSource(&arguments) {
      source = named
    } else if let text = arguments.word() {
      source = .text(text)
    } else {
      source = .standardInput
    }
    return { app, output in
      let text = try source.read()
      guard !text.isEmpty else { throw ToolError("there is no text to add") }
      guard text.utf8.count <= TextFiles.largest else {
        throw ToolError("the text is larger than \(size(TextFiles.largest))")
      }
      let entry = ClipboardEntry(id: UUID(), text: text, timestamp: Date())
      try app.clipboard.add(entry)
      try output.result(EntryDocument(entry, unsent: true), "added \(entry.id)")
    }
  }

  private static let listEntries = Verb(
    "list [--limit N]", "newest first", on: ItsypadApp.self
  ) { arguments in
    let limit = try arguments.number("limit")
    return { app, output in
      let all = app.clipboard.entries
      let documents = all.prefix(limit ?? all.count).map {
        EntryDocument($0, unsent: app.clipboard.isUnsent($0.id))
      }
      try output.result(
        EntriesDocument(entries: documents, total: all.count, unsent: app.clipboard.unsentCount),
        Table([.init("ID", .id), .init("  TEXT", .text)], documents.map(\.cells)),
        empty: "no clipboard entries")
    }
  }

  private static let deleteEntry = Verb(
    "delete ID", "delete an entry", on: ItsypadApp.self
  ) { arguments in
    let id = try arguments.word("the entry's ID")
    return { app, output in
      let id = try find(id, in: app.clipboard.entries.map(\.id), "clipboard entry")
      try app.clipboard.delete(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    }
  }

  private static let clearEntries = Verb(
    "clear", "delete all entries", on: ItsypadApp.self
  ) { _ in
    { app, output in
      let number = try app.clipboard.clear()
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    }
  }

  private static let pruneEntries = Verb(
    "prune [--older-than AGE]",
    "delete entries of an AGE such as 90s, 15m, 12h or 7d;\n"
      + "30d unless given", on: ItsypadApp.self
  ) { arguments in
    let age = try arguments.seconds("older-than") ?? defaultAge
    return { app, output in
      let number = try app.clipboard.prune(olderThan: age, now: Date())
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    }
  }
}
