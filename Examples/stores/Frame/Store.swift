import CommandLineKit

/// The description of a store, from which the tool derives sync, watch and demo.
///
/// `help.txt` describes its verbs, which have the options and the order that it gives them.
///
/// README.md describes how to add one.
struct Store: Sendable {
  let name: String

  /// The app that stores and syncs its items; several stores may share one.
  let app: any StoreApp.Type

  /// The verbs, in the order of the help.
  let verbs: [Verb]

  /// The store's part of the demo.
  let act: DemoAct

  /// The completions of words, by their names in the usage lines.
  let completing: [String: Completing]

  /// All stores, in the order people see them.
  ///
  /// A new one goes here, and nowhere else.
  static let all: [Store] = [
    .tabs, .clipboard, .results, .achievements, .leaderboard, .ideas, .annotations,
  ]

  /// Creates a store; the verbs `sync` and `watch` are added if it has none.
  ///
  /// - Parameters:
  ///   - watching: what `watch` shows.
  ///   - completing: completions; unless given, an `ID` is completed from the items of `watch`.
  init<App: StoreApp>(
    _ name: String, watching: Watching<App>, completing: [String: Completing] = [:], act: DemoAct,
    @ListBuilder<Verb> verbs: () -> [Verb]
  ) {
    self.name = name
    self.act = act
    app = App.self
    var verbs = verbs().map { $0.name == watching.listVerb ? $0.watched(watching) : $0 }
    if !verbs.contains(where: { $0.name == "sync" }) { verbs.append(Verbs<App>().sync()) }
    verbs.append(.watch(watching))
    let entries = Help.entries(name)
    precondition(
      entries.map(\.name).sorted() == verbs.map(\.name).sorted(),
      "help.txt does not describe the verbs of \(name)")
    self.verbs = entries.flatMap { entry in
      verbs.filter { $0.name == entry.name }.map { $0.described(by: entry) }
    }
    let ids = Completing(App.self) { app in
      try watching.items(app).map { ($0.id, $0.row.words) }
    }
    self.completing = completing.merging(["ID": ids]) { own, _ in own }
  }

  /// The apps of some stores, without repetitions.
  static func apps(of stores: [Store] = Store.all) -> [any StoreApp.Type] {
    var known: Set<String> = []
    return stores.map(\.app).filter { known.insert($0.name).inserted }
  }
}

/// What `watch` shows of a store.
struct Watching<App: StoreApp>: Sendable {
  struct Item {
    var id: String
    /// A value that differs if the item has changed.
    var state: AnyHashable
    var row: Row

    init(_ id: String, _ row: Row, state: AnyHashable? = nil) {
      self.id = id
      self.row = row
      self.state = state ?? AnyHashable(row.words)
    }
  }

  /// The noun for an item; also its key in `--json`.
  var noun: String

  /// The words for an item that is new, different or removed.
  var added = "added"
  var changed = "changed"
  var removed = "removed"

  /// The verb that gets the option `--watch`.
  var listVerb = "list"

  /// The subscriptions for pushes of an HTTP server.
  var subscriptions = PushLine.privateDatabase

  /// All items, in the order in which they are shown.
  var items: @Sendable (App) throws -> [Item]
}

/// The completions of a word of a verb.
enum Completing: Sendable {
  /// Fixed words.
  case fixed([String])
  /// Words from the data on the device.
  case opened(@Sendable (Session) throws -> [Completion.Candidate])

  /// Words from the data of an app, with their meanings.
  ///
  /// A meaning that begins with the word is shown without it.
  init<App: StoreApp>(
    _ app: App.Type, _ items: @escaping @Sendable (App) throws -> [(word: String, meaning: String)]
  ) {
    self = .opened { session in
      try items(session.app(App.self)).map { item in
        let rest = item.meaning.hasPrefix(item.word) ? item.meaning.dropFirst(item.word.count) : nil
        let meaning = (rest ?? item.meaning[...]).drop { $0 == " " }
        return Completion.Candidate(word: item.word, meaning: meaning.cut(to: 60))
      }
    }
  }
}
