import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport
import TabStore

/// A tab as `--json` shows it.
struct TabDocument: Encodable {
  var id: UUID
  var name: String
  var language: String
  var languageLocked: Bool
  var lastModified: Date
  var bytes: Int
  var content: String?
  var unsent: Bool

  init(_ tab: ScratchTab, unsent: Bool, withContent: Bool = false) {
    id = tab.id
    name = tab.name
    language = tab.language
    languageLocked = tab.languageLocked
    lastModified = tab.lastModified
    bytes = tab.content.utf8.count
    content = withContent ? tab.content : nil
    self.unsent = unsent
  }

  /// One line for people.
  var words: String {
    "\(id)  \(unsent ? "*" : " ") \(printable(name))  (\(printable(language)), \(size(bytes)))"
  }
}

/// All tabs as `--json` shows them.
struct TabsDocument: Encodable {
  var tabs: [TabDocument]
  var unsent: Int
}

extension Session {
  /// Carries out a verb of `tabs` that needs no watching.
  func perform(_ verb: TabsVerb, _ output: Output) async throws {
    switch verb {
    case .add(let name, let source):
      let tab = ScratchTab(
        id: UUID(), name: name, content: try source.read(), language: Language.of(name),
        lastModified: Date())
      try tabs.add(tab)
      try output.result(TabDocument(tab, unsent: true), "opened \(tab.id) \(printable(name))")
    case .importFrom(let path): try importTabs(path, output)
    case .edit(let id, let source, let name):
      let content = try source?.read()
      try change(id, "changed", output) { tab in
        if let content { tab.content = content }
        if let name { tab.name = name }
      }
    case .language(let id, let language):
      try change(id, "changed", output) { tab in
        tab.language = language
        tab.languageLocked = true
      }
    case .close(let id):
      let tab = try tab(id)
      try tabs.close(tab.id)
      try output.result(
        TabDocument(tab, unsent: false), "closed \(tab.id) \(printable(tab.name))")
    case .list:
      let documents = tabs.tabs.map { TabDocument($0, unsent: tabs.isUnsent($0.id)) }
      try output.result(
        TabsDocument(tabs: documents, unsent: tabs.unsentCount),
        documents.isEmpty
          ? "no tabs" : documents.map(\.words).joined(separator: "\n") + "\n" + unsentWords)
    case .show(let id):
      let tab = try tab(id)
      if output.isJSON {
        try output.result(
          TabDocument(tab, unsent: tabs.isUnsent(tab.id), withContent: true), "")
      } else {
        // The text as it is, to the byte: this is what pipes want.
        Output.write(tab.content)
      }
    case .sync:
      let document = try await syncItsypad(connect(), store: "tabs and clipboard")
      try output.result(document, document.words)
    case .setSync(let isOn):
      let engine = try itsypad(link())
      try engine.setEnabled(isOn)
      if isOn { try await engine.shutDown() }
      try output.result(["sync": isOn], "sync is \(isOn ? "on" : "off")")
    case .watch: throw ToolError("watch is no verb of one session")
    }
  }

  private var unsentWords: String {
    let unsent = tabs.unsentCount
    return unsent == 0 ? "" : "* \(count(unsent, "change")) not sent yet"
  }

  private func tab(_ id: String) throws -> ScratchTab {
    let id = try find(id, in: tabs.tabs.map(\.id), "tab")
    guard let tab = tabs.tab(id) else { throw ToolError("the tab \(id) is gone") }
    return tab
  }

  private func change(
    _ id: String, _ done: String, _ output: Output, _ edit: (inout ScratchTab) -> Void
  ) throws {
    let id = try tab(id).id
    guard let tab = try tabs.edit(id, now: Date(), edit) else {
      throw ToolError("the tab \(id) is gone")
    }
    try output.result(
      TabDocument(tab, unsent: tabs.isUnsent(id)), "\(done) \(id) \(printable(tab.name))")
  }

  private func importTabs(_ path: String, _ output: Output) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ToolError("there is no folder or file \(quoted(path))")
    }
    guard isFolder.boolValue else {
      try migrate(path, output)
      return
    }
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    let found = try TextFiles(in: folder) { output.progress("reading: \(count($0, "file"))") }
    output.endProgress()
    let report = try tabs.takeOver(found.files, now: Date())
    try output.result(
      ImportDocument(
        added: report.added, changed: report.changed, unchanged: report.unchanged,
        skipped: found.skipped),
      "\(count(report.added, "tab")) opened, \(report.changed) changed, "
        + "\(report.unchanged) as before"
        + (found.skipped.isEmpty ? "" : "; \(count(found.skipped.count, "file")) left out"))
    for skipped in found.skipped { output.note("left out \(quoted(skipped.name)): \(skipped.why)") }
  }

  private func migrate(_ path: String, _ output: Output) throws {
    let export = try KeyValueExport(try readData(path))
    let document = MigrationDocument(
      tabs: try tabs.migrate(export), clipboard: try clipboard.migrate(export),
      unreadable: export.unreadable)
    try output.result(
      document,
      document.tabs.wasDoneBefore
        ? "moved in before; nothing was changed"
        : "\(count(document.tabs.added, "tab")) and "
          + "\(count(document.clipboard.added, "clipboard entry")) moved in, "
          + "\(document.tabs.updated) updated, "
          + "\(document.tabs.removed + document.clipboard.removed) removed by tombstones, "
          + "\(export.unreadable) unreadable")
  }
}

/// What moving in from the key-value store did.
struct MigrationDocument: Encodable {
  var tabs: MigrationReport
  var clipboard: MigrationReport
  var unreadable: Int
}

/// What an import of a folder did.
struct ImportDocument: Encodable {
  var added: Int
  var changed: Int
  var unchanged: Int
  var skipped: [TextFiles.Skipped]
}
