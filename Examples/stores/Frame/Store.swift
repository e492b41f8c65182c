import CommandLineKit

/// The description of a store, from which the tool derives help, options, sync, watch and demo.
///
/// README.md describes how to add one.
struct Store: Sendable {
  /// The name on the command line.
  let name: String

  /// The summary in the help, at most 60 letters.
  let summary: String

  /// The app that stores and syncs its items; several stores may share one.
  let app: any StoreApp.Type

  /// The verbs, in the order of the help.
  let verbs: [Verb]

  /// The text below the verbs in the help.
  let notes: String

  /// The store's part of the demo.
  let act: DemoAct?

  /// The completions of words, by their names in the usage lines.
  let completing: [String: Completing]

  /// Creates a store; the verbs `sync` and `watch` are added if it has none.
  ///
  /// - Parameters:
  ///   - watching: what `watch` shows; without it there is no such verb.
  ///   - completing: completions; unless given, an `ID` is completed from the items of `watch`.
  init<App: StoreApp>(
    _ name: String, _ app: App.Type, summary: String, notes: String = "", watching: Watching<App>,
    completing: [String: Completing] = [:], act: DemoAct? = nil,
    @ListBuilder<Verb> verbs: () -> [Verb]
  ) {
    self.name = name
    self.summary = summary
    self.app = app
    self.notes = notes
    self.act = act
    var verbs = verbs().map { $0.name == watching.listVerb ? $0.watched(watching) : $0 }
    if !verbs.contains(where: { $0.name == "sync" }) { verbs.append(.sync(app)) }
    self.verbs = verbs + [.watch(watching)]
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
