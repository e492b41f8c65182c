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
  var words: String { cells.map { printable($0.text) }.joined(separator: "  ") }

  /// A row of a table.
  var cells: [Table.Cell] {
    [
      .init("\(id)", .dim), .init("\(unsent ? "*" : " ") \(name)", unsent ? .yellow : .plain),
      .init("(\(language), \(size(bytes)))", .dim),
    ]
  }
}

/// All tabs as `--json` shows them.
struct TabsDocument: Encodable {
  var tabs: [TabDocument]
  var unsent: Int
}

extension Store {
  /// Scratch tabs of an editor.
  static let tabs = Store(
    "tabs", ItsypadApp.self, summary: "scratch tabs of an editor; the newer edit of a tab wins",
    verbs: [addTab, importTabs, editTab, setLanguage, closeTab, listTabs, showTab, syncTabs],
    notes: "An ID may be shortened as long as it stays unique.",
    watching: Watching(noun: "tab", added: "opened", removed: "closed") { app in
      app.tabs.tabs.map { tab in
        let document = TabDocument(tab, unsent: false)
        return .init(id: tab.id.uuidString, state: tab, document: document, words: document.words)
      }
    },
    act: .tabs)

  private static let addTab = Verb(
    "add NAME (--text TEXT | --file FILE | -)", "open a tab; - reads standard input",
    on: ItsypadApp.self
  ) { arguments in
    let name = try arguments.word("the new tab's name")
    guard let source = try TextSource(&arguments) else {
      throw UsageError("say what is in the tab: --text TEXT, --file FILE, or - to read it")
    }
    return { app, output in
      let tab = ScratchTab(
        id: UUID(), name: name, content: try source.read(), language: Language.of(name),
        lastModified: Date())
      try app.tabs.add(tab)
      try output.result(TabDocument(tab, unsent: true), "opened \(tab.id) \(printable(name))")
    }
  }

  private static let importTabs = Verb(
    "import DIR|FILE.json",
    "open a tab for each text file of a folder; again: take over\n"
      + "changes; or move in what an older app exported",
    on: ItsypadApp.self
  ) { arguments in
    let path = try arguments.word("a folder, or an exported file,")
    return { app, output in try app.importTabs(path, output) }
  }

  private static let editTab = Verb(
    "edit ID (--text TEXT | --file FILE | -) [--name NAME]", "change a tab's text or name",
    on: ItsypadApp.self
  ) { arguments in
    let id = try arguments.word("the tab's ID")
    let (source, name) = (try TextSource(&arguments), arguments.value("name"))
    guard source != nil || name != nil else {
      throw UsageError("say what to change: --text TEXT, --file FILE, - or --name NAME")
    }
    return { app, output in
      let content = try source?.read()
      try app.change(id, output) { tab in
        if let content { tab.content = content }
        if let name { tab.name = name }
      }
    }
  }

  private static let setLanguage = Verb(
    "language ID LANGUAGE", "say what the tab is written in", on: ItsypadApp.self
  ) { arguments in
    let id = try arguments.word("the tab's ID")
    let language = try arguments.word("the language")
    return { app, output in
      try app.change(id, output) { tab in
        tab.language = language
        tab.languageLocked = true
      }
    }
  }

  private static let closeTab = Verb("close ID", "close a tab", on: ItsypadApp.self) { arguments in
    let id = try arguments.word("the tab's ID")
    return { app, output in
      let tab = try app.tab(id)
      try app.tabs.close(tab.id)
      try output.result(
        TabDocument(tab, unsent: false), "closed \(tab.id) \(printable(tab.name))")
    }
  }

  private static let listTabs = Verb("list", "all tabs", on: ItsypadApp.self) { _ in
    { app, output in
      let tabs = app.tabs
      let documents = tabs.tabs.map { TabDocument($0, unsent: tabs.isUnsent($0.id)) }
      let unsent = tabs.unsentCount
      let note = unsent == 0 ? "" : "* \(count(unsent, "change")) not sent yet"
      try output.result(
        TabsDocument(tabs: documents, unsent: unsent),
        Table(
          [.init("ID", .id), .init("  NAME", .text), .init("", isDetail: true)],
          documents.map(\.cells)),
        empty: "no tabs", note: note)
    }
  }

  private static let showTab = Verb(
    "show ID", "print the tab's text", on: ItsypadApp.self
  ) { arguments in
    let id = try arguments.word("the tab's ID")
    return { app, output in
      let tab = try app.tab(id)
      if output.isJSON {
        let isUnsent = app.tabs.isUnsent(tab.id)
        try output.result(TabDocument(tab, unsent: isUnsent, withContent: true), "")
      } else {
        // The text as it is, to the byte: this is what pipes want.
        Output.write(tab.content)
      }
    }
  }

  private static let syncTabs = Verb(
    "sync [on|off]",
    "fetch and send now; or turn sync on or off on this device:\n"
      + "off forgets the cloud and keeps the tabs"
  ) { arguments in
    switch arguments.word() {
    case nil: return Verb.syncing(ItsypadApp.self)
    case "on": return setSync(isOn: true)
    case "off": return setSync(isOn: false)
    case let word?: throw UsageError("sync is turned on or off, not \(quoted(word))")
    }
  }

  private static func setSync(isOn: Bool) -> Verb.Action {
    { invocation in
      try await invocation.withSession { session in
        let engine = try session.app(ItsypadApp.self).engine
        try engine.setEnabled(isOn)
        if isOn { try await engine.shutDown() }
      }
      try invocation.output.result(["sync": isOn], "sync is \(isOn ? "on" : "off")")
    }
  }
}
