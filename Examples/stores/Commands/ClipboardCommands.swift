import ClipboardStore
import CommandLineKit
import Foundation

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
  var words: String {
    let line = printable(text ?? "(image)")
    let shown = line.count > 80 ? line.prefix(80) + "…" : line[...]
    return "\(id)  \(unsent ? "*" : " ") \(shown)"
  }
}

/// All entries as `--json` shows them.
struct EntriesDocument: Encodable {
  var entries: [EntryDocument]
  var total: Int
  var unsent: Int
}

extension Session {
  /// Carries out a verb of `clipboard`.
  func perform(_ verb: ClipboardVerb, _ output: Output) async throws {
    switch verb {
    case .add(let source):
      let text = try source.read()
      guard !text.isEmpty else { throw ToolError("there is no text to add") }
      guard text.utf8.count <= TextFiles.largest else {
        throw ToolError("the text is larger than \(size(TextFiles.largest))")
      }
      let entry = ClipboardEntry(id: UUID(), text: text, timestamp: Date())
      try clipboard.add(entry)
      try output.result(EntryDocument(entry, unsent: true), "added \(entry.id)")
    case .list(let limit):
      let all = clipboard.entries
      let documents = all.prefix(limit ?? all.count).map {
        EntryDocument($0, unsent: clipboard.isUnsent($0.id))
      }
      try output.result(
        EntriesDocument(entries: documents, total: all.count, unsent: clipboard.unsentCount),
        documents.isEmpty
          ? "no clipboard entries" : documents.map(\.words).joined(separator: "\n"))
    case .delete(let id):
      let id = try find(id, in: clipboard.entries.map(\.id), "clipboard entry")
      try clipboard.delete(id)
      try output.result(["deleted": id.uuidString], "deleted \(id)")
    case .clear:
      let number = try clipboard.clear()
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    case .prune(let age):
      let number = try clipboard.prune(olderThan: age, now: Date())
      try output.result(["deleted": number], "deleted \(count(number, "entry"))")
    case .sync:
      let document = try await syncItsypad(connect(), store: "tabs and clipboard")
      try output.result(document, document.words)
    }
  }
}
