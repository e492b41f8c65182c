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

  /// Makes a store; the verbs `sync` and `watch` are added where it does not bring its own.
  ///
  /// - Parameter watching: what `watch` shows; without it there is no such verb.
  init<App: StoreApp>(
    _ name: String, _ app: App.Type, summary: String, verbs: [Verb], notes: String = "",
    watching: Watching<App>? = nil, act: DemoAct? = nil
  ) {
    self.name = name
    self.summary = summary
    self.app = app
    self.notes = notes
    self.act = act
    var verbs = verbs
    if !verbs.contains(where: { $0.name == "sync" }) { verbs.append(.sync(app)) }
    if let watching { verbs.append(.watch(watching)) }
    self.verbs = verbs
  }

  /// The apps of some stores, each once.
  static func apps(of stores: [Store] = Store.all) -> [any StoreApp.Type] {
    var known: Set<String> = []
    return stores.map(\.app).filter { known.insert($0.name).inserted }
  }
}
