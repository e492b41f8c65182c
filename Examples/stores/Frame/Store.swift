import CommandLineKit

/// A store of the tool: everything the tool says and does about it.
///
/// To add one, see README.md.
struct Store: Sendable {
  /// What it is called on the command line.
  let name: String

  /// What it shows, in a line of at most 60 letters.
  let summary: String

  /// What keeps and syncs its items; several stores may share one.
  let app: any StoreApp.Type

  /// What it can be told to do, in the order of its help.
  let verbs: [Verb]

  /// What its help says below the verbs.
  let notes: String

  /// Its part of the demo.
  let act: DemoAct?

  /// What a device has of the things that verbs ask for, by what their usages call them.
  let completing: [String: Completing]

  /// Makes a store; the verbs `sync` and `watch` are added where it does not bring its own.
  ///
  /// - Parameters:
  ///   - watching: what `watch` shows, and what one verb shows with `--watch`; without it there is
  ///     no such verb.
  ///   - completing: what a shell may put where a usage has such a word; an `ID` is one of what
  ///     `watch` shows unless this says otherwise.
  init<App: StoreApp>(
    _ name: String, _ app: App.Type, summary: String, verbs: [Verb], notes: String = "",
    watching: Watching<App>? = nil, completing: [String: Completing] = [:], act: DemoAct? = nil
  ) {
    self.name = name
    self.summary = summary
    self.app = app
    self.notes = notes
    self.act = act
    var verbs = verbs
    if !verbs.contains(where: { $0.name == "sync" }) { verbs.append(.sync(app)) }
    var known = completing
    if let watching {
      verbs = verbs.map { $0.name == watching.listVerb ? $0.watched(watching) : $0 }
      verbs.append(.watch(watching))
      if known["ID"] == nil {
        known["ID"] = Completing(App.self) { app in
          try watching.items(app).map { ($0.id, $0.words) }
        }
      }
    }
    self.verbs = verbs
    self.completing = known
  }

  /// The apps of some stores, each once.
  static func apps(of stores: [Store] = Store.all) -> [any StoreApp.Type] {
    var known: Set<String> = []
    return stores.map(\.app).filter { known.insert($0.name).inserted }
  }
}
