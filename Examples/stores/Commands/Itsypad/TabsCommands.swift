import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport
import TabStore

private let verb = Verbs<ItsypadApp>()

extension Row {
  /// A tab as it is shown.
  init(_ tab: ScratchTab, unsent: Bool) {
    let bytes = tab.content.utf8.count
    self.init(
      [
        "id": tab.id, "name": tab.name, "language": tab.language,
        "languageLocked": tab.languageLocked, "lastModified": tab.lastModified, "bytes": bytes,
        "unsent": unsent,
      ],
      [
        .init("\(tab.id)", .dim),
        .init("\(unsent ? "*" : " ") \(tab.name)", unsent ? .yellow : .plain),
        .init("(\(tab.language), \(size(bytes)))", .dim),
      ])
  }
}

extension Store {
  /// Scratch tabs of an editor.
  static let tabs = Store(
    "tabs",
    watching: Watching<ItsypadApp>(noun: "tab", added: "opened", removed: "closed") { app in
      app.tabs.tabs.map { .init($0.id.uuidString, Row($0, unsent: false), state: $0) }
    },
    act: .tabs
  ) {
    verb(
      "add",
      .word("the new tab's name"),
      Parameter { arguments in
        guard let source = try TextSource(&arguments) else {
          throw UsageError("say what is in the tab: --text TEXT, --file FILE, or - to read it")
        }
        return source
      }
    ) { app, output, name, source in
      let tab = ScratchTab(
        id: UUID(), name: name, content: try source.read(), language: Language.of(name),
        lastModified: Date())
      try app.tabs.add(tab)
      try output.result(Row(tab, unsent: true).document, "opened \(tab.id) \(printable(name))")
    }
    verb("import", .word("a folder, or an exported file,")) { app, output, path in
      try app.importTabs(path, output)
    }
    Verb("edit") { arguments in
      let id = try arguments.word("the tab's ID")
      let (source, name) = (try TextSource(&arguments), arguments.value("name"))
      guard source != nil || name != nil else {
        throw UsageError("say what to change: --text TEXT, --file FILE, - or --name NAME")
      }
      return verb.action { app, output in
        let content = try source?.read()
        try app.change(id, output) { tab in
          if let content { tab.content = content }
          if let name { tab.name = name }
        }
      }
    }
    verb("language", .word("the tab's ID"), .word("the language")) { app, output, id, language in
      try app.change(id, output) { ($0.language, $0.languageLocked) = (language, true) }
    }
    verb("close", .word("the tab's ID")) { app, output, id in
      let tab = try app.tab(id)
      try app.tabs.close(tab.id)
      try output.result(
        Row(tab, unsent: false).document, "closed \(tab.id) \(printable(tab.name))")
    }
    verb("list") { app, output in
      let unsent = app.tabs.unsentCount
      try output.list(
        "tabs", app.tabs.tabs.map { Row($0, unsent: app.tabs.isUnsent($0.id)) },
        [.init("ID", .id), .init("  NAME", .text), .init("", isDetail: true)],
        with: ["unsent": unsent], empty: "no tabs",
        note: unsent == 0 ? "" : "* \(count(unsent, "change")) not sent yet")
    }
    verb("show", .word("the tab's ID")) { app, output, id in
      let tab = try app.tab(id)
      // The unchanged text, without a line break at the end, for pipes.
      guard output.isJSON else { return Output.write(tab.content) }
      var document = Row(tab, unsent: app.tabs.isUnsent(tab.id)).document
      document["content"] = tab.content
      try output.result(document, "")
    }
    verb.sync { app, isOn in
      try await app.setEnabled(isOn)
    }
  }
}

extension ItsypadApp {
  /// Changes the tab whose ID starts with `id`.
  fileprivate func change(
    _ id: String, _ output: Output, _ edit: (inout ScratchTab) -> Void
  ) throws {
    let id = try tab(id).id
    guard let tab = try tabs.edit(id, now: Date(), edit) else {
      throw ToolError("the tab \(id) is gone")
    }
    try output.result(
      Row(tab, unsent: tabs.isUnsent(id)).document, "changed \(id) \(printable(tab.name))")
  }

  /// Opens tabs for the files of a folder, or moves in an older app's export.
  fileprivate func importTabs(_ path: String, _ output: Output) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ToolError("there is no folder or file \(quoted(path))", code: ExitCode.noInput)
    }
    guard isFolder.boolValue else { return try migrate(path, output) }
    let bar = output.progressBar()
    defer { bar?.end() }
    let found = try TextFiles(in: URL(fileURLWithPath: path, isDirectory: true)) {
      bar?.show(ProgressLine("reading", "file", done: $0, of: $1))
    }
    let report = try tabs.takeOver(found.files, now: Date()) {
      bar?.show(ProgressLine("taking over", "file", done: $0, of: $1))
    }
    bar?.end()
    let document: Document = [
      "added": report.added, "changed": report.changed, "unchanged": report.unchanged,
      "skipped": found.skipped,
    ]
    try output.result(
      document,
      "\(count(report.added, "tab")) opened, \(report.changed) changed, "
        + "\(report.unchanged) as before"
        + (found.skipped.isEmpty ? "" : "; \(count(found.skipped.count, "file")) left out"))
    for skipped in found.skipped { output.note("left out \(quoted(skipped.name)): \(skipped.why)") }
  }

  private func migrate(_ path: String, _ output: Output) throws {
    let export = try KeyValueExport(try readFile(path))
    let (tabs, clipboard) = (try tabs.migrate(export), try clipboard.migrate(export))
    try output.result(
      ["tabs": tabs, "clipboard": clipboard, "unreadable": export.unreadable] as Document,
      tabs.wasDoneBefore
        ? "moved in before; nothing was changed"
        : "\(count(tabs.added, "tab")) and "
          + "\(count(clipboard.added, "clipboard entry")) moved in, "
          + "\(tabs.updated) updated, "
          + "\(tabs.removed + clipboard.removed) removed by tombstones, "
          + "\(export.unreadable) unreadable")
  }
}
