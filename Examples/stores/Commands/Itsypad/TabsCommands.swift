import ClipboardStore
import CommandLineKit
import Foundation
import SyncSupport
import TabStore

private let verb = Verbs<ItsypadApp>()

extension Row {
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
    verb("add", .word("the new tab's name"), content) { app, output, name, source in
      let tab = ScratchTab(
        id: UUID(), name: name, content: try source.read(), language: Language.of(name),
        lastModified: Date())
      try app.tabs.add(tab)
      try output.result(Row(tab, unsent: true).document, "opened \(tab.id) \(printable(name))")
    }
    verb("import", .word("a folder, or an exported file,")) { app, output, path in
      try app.importTabs(path, output)
    }
    verb("edit", on: tab, changes) { app, output, tab, changes in
      let content = try changes.source?.read()
      try app.change(tab, output) { tab in
        if let content { tab.content = content }
        if let name = changes.name { tab.name = name }
      }
    }
    verb("language", on: tab, .word("the language")) { app, output, tab, language in
      try app.change(tab, output) { ($0.language, $0.languageLocked) = (language, true) }
    }
    verb("close", on: tab) { app, output, tab in
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
    verb("show", on: tab) { app, output, tab in
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

  private static let tab = NamedItem<ItsypadApp, ScratchTab>("the tab's ID", "tab") { $0.tabs.tabs }

  private static let content = Parameter<TextSource> { arguments in
    guard let source = try TextSource(&arguments) else {
      throw UsageError("say what is in the tab: --text TEXT, --file FILE, or - to read it")
    }
    return source
  }

  private static let changes = Parameter<(source: TextSource?, name: String?)> { arguments in
    let (source, name) = (try TextSource(&arguments), arguments.value("name"))
    guard source != nil || name != nil else {
      throw UsageError("say what to change: --text TEXT, --file FILE, - or --name NAME")
    }
    return (source, name)
  }
}

extension ItsypadApp {
  fileprivate func change(
    _ tab: ScratchTab, _ output: Output, _ edit: (inout ScratchTab) -> Void
  ) throws {
    guard let edited = try tabs.edit(tab.id, now: Date(), edit) else {
      throw ToolError("the tab \(tab.id) is gone")
    }
    try output.result(
      Row(edited, unsent: tabs.isUnsent(tab.id)).document,
      "changed \(tab.id) \(printable(edited.name))")
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
