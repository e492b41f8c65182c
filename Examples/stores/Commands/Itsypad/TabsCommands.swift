import CommandLineKit
import Foundation
import SyncSupport
import TabStore

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
    "tabs", ItsypadApp.self, summary: "scratch tabs of an editor; the newer edit of a tab wins",
    notes: "An ID may be shortened as long as it stays unique.",
    watching: Watching<ItsypadApp>(noun: "tab", added: "opened", removed: "closed") { app in
      app.tabs.tabs.map { .init($0.id.uuidString, Row($0, unsent: false), state: $0) }
    },
    act: .tabs
  ) {
    Verb(
      "add NAME (--text TEXT | --file FILE | -)", "open a tab; - reads standard input",
      on: ItsypadApp.self, .word("the new tab's name"),
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
      try output.result(
        Row(tab, unsent: true).document, "opened \(tab.id) \(printable(name))")
    }
    Verb(
      "import DIR|FILE.json",
      "open a tab for each text file of a folder; again: take over\n"
        + "changes; or move in what an older app exported",
      on: ItsypadApp.self, .word("a folder, or an exported file,")
    ) { app, output, path in
      try app.importTabs(path, output)
    }
    Verb(
      "edit ID (--text TEXT | --file FILE | -) [--name NAME]", "change a tab's text or name"
    ) { arguments in
      let id = try arguments.word("the tab's ID")
      let (source, name) = (try TextSource(&arguments), arguments.value("name"))
      guard source != nil || name != nil else {
        throw UsageError("say what to change: --text TEXT, --file FILE, - or --name NAME")
      }
      return Verb.action(on: ItsypadApp.self) { app, output in
        let content = try source?.read()
        try app.change(id, output) { tab in
          if let content { tab.content = content }
          if let name { tab.name = name }
        }
      }
    }
    Verb(
      "language ID LANGUAGE", "say what the tab is written in", on: ItsypadApp.self,
      .word("the tab's ID"), .word("the language")
    ) { app, output, id, language in
      try app.change(id, output) { tab in
        tab.language = language
        tab.languageLocked = true
      }
    }
    Verb("close ID", "close a tab", on: ItsypadApp.self, .word("the tab's ID")) {
      app, output, id in
      let tab = try app.tab(id)
      try app.tabs.close(tab.id)
      try output.result(
        Row(tab, unsent: false).document, "closed \(tab.id) \(printable(tab.name))")
    }
    Verb("list", "all tabs", on: ItsypadApp.self) { app, output in
      let unsent = app.tabs.unsentCount
      try output.list(
        "tabs", app.tabs.tabs.map { Row($0, unsent: app.tabs.isUnsent($0.id)) },
        [.init("ID", .id), .init("  NAME", .text), .init("", isDetail: true)],
        with: ["unsent": unsent], empty: "no tabs",
        note: unsent == 0 ? "" : "* \(count(unsent, "change")) not sent yet")
    }
    Verb("show ID", "print the tab's text", on: ItsypadApp.self, .word("the tab's ID")) {
      app, output, id in
      let tab = try app.tab(id)
      if output.isJSON {
        var document = Row(tab, unsent: app.tabs.isUnsent(tab.id)).document
        document["content"] = tab.content
        try output.result(document, "")
      } else {
        // The unchanged text, without a line break at the end, for pipes.
        Output.write(tab.content)
      }
    }
    Verb.sync(
      ItsypadApp.self,
      "fetch and send now; or turn sync on or off on this device:\n"
        + "off forgets the cloud and keeps the tabs"
    ) { app, isOn in
      try await app.setEnabled(isOn)
    }
  }
}
