import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport

private let verb = Verbs<ItsypadApp>()

extension Row {
  init(_ entry: ClipboardEntry, unsent: Bool) {
    self.init(
      ["id": entry.id, "text": entry.text, "timestamp": entry.timestamp, "unsent": unsent],
      [
        .init("\(entry.id)", .dim),
        .init("\(unsent ? "*" : " ") \(entry.text ?? "(image)")", unsent ? .yellow : .plain),
      ])
  }
}

extension Store {
  /// The age from which `prune` deletes entries, unless given.
  private static let defaultAge = 30.0 * 86_400

  private static let entry = NamedItem<ItsypadApp, ClipboardEntry>(
    "the entry's ID", "clipboard entry"
  ) { $0.clipboard.entries }

  static let clipboard = Store(
    "clipboard",
    watching: Watching<ItsypadApp>(noun: "entry", removed: "deleted") { app in
      app.clipboard.entries.map { .init($0.id.uuidString, Row($0, unsent: false), state: 0) }
    },
    act: .clipboard
  ) {
    verb(
      "add",
      Parameter { arguments in
        try TextSource(&arguments) ?? arguments.word().map { .text($0) } ?? .standardInput
      }
    ) { app, output, source in
      let text = try source.read()
      guard !text.isEmpty else { throw ToolError("there is no text to add", code: ExitCode.data) }
      guard text.utf8.count <= TextFiles.largest else {
        throw ToolError("the text is larger than \(size(TextFiles.largest))")
      }
      let entry = ClipboardEntry(id: UUID(), text: text, timestamp: Date())
      try app.clipboard.add(entry)
      try output.result(Row(entry, unsent: true).document, "added \(entry.id)")
    }
    verb("list", .number("limit")) { app, output, limit in
      let all = app.clipboard.entries
      try output.list(
        "entries",
        all.prefix(limit ?? all.count).map { Row($0, unsent: app.clipboard.isUnsent($0.id)) },
        [.init("ID", .id), .init("  TEXT", .text)],
        with: ["total": all.count, "unsent": app.clipboard.unsentCount],
        empty: "no clipboard entries")
    }
    verb("delete", on: entry) { app, output, entry in
      try app.clipboard.delete(entry.id)
      try output.result("deleted", entry.id)
    }
    verb("clear") { app, output in
      let number = try app.clipboard.clear()
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    }
    verb("prune", .seconds("older-than")) { app, output, age in
      let number = try app.clipboard.prune(olderThan: age ?? defaultAge, now: Date())
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    }
  }
}
