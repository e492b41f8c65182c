import CommandLineKit

/// One thing a store can be told to do.
struct Verb: Sendable {
  /// What is done once the command line is understood.
  typealias Action = @Sendable (Invocation) async throws -> Void

  /// How it is called; the first word is its name.
  let usage: UsageLine

  /// What it does, in a line.
  let summary: String

  /// Takes the words and options behind the verb.
  let parse: @Sendable (inout Arguments) throws -> Action

  /// The word that stands for it.
  var name: String { String(usage.text.prefix { $0 != " " }) }

  /// A verb that is carried out in its own way.
  ///
  /// - Parameters:
  ///   - usage: the verb and what goes behind it, as ``UsageLine`` reads it.
  ///   - parse: takes the words and options, and says what to do; throws `UsageError`.
  init(
    _ usage: String, _ summary: String,
    parse: @escaping @Sendable (inout Arguments) throws -> Action
  ) {
    self.usage = UsageLine(usage)
    self.summary = summary
    self.parse = parse
  }

  /// A verb that is carried out on what the device has, without the server.
  ///
  /// - Parameter parse: takes the words and options, and says what to do with the opened app.
  init<App: StoreApp>(
    _ usage: String, _ summary: String, on app: App.Type,
    parse:
      @escaping @Sendable (inout Arguments) throws
      -> @Sendable (App, Output) async throws -> Void
  ) {
    self.init(usage, summary) { arguments in
      let action = try parse(&arguments)
      return { invocation in
        try await invocation.withSession { session in
          try await action(try session.app(App.self), invocation.output)
        }
      }
    }
  }

  /// Fetches and sends now.
  static func sync<App: StoreApp>(_ app: App.Type) -> Verb {
    Verb("sync", "fetch and send now") { _ in syncing(app) }
  }

  /// What `sync` does.
  static func syncing<App: StoreApp>(_ app: App.Type) -> Action {
    { invocation in
      let report = try await invocation.withSession {
        try await $0.sync(App.self, showingOn: invocation.output)
      }
      try invocation.output.result(report, report.words)
    }
  }

  /// Keeps in sync and shows what changes.
  static func watch<App: StoreApp>(_ watching: Watching<App>) -> Verb {
    Verb(
      "watch",
      "keep in sync and show what changes, until interrupted;\nwith --json one document a line"
    ) { _ in
      { invocation in
        try await untilInterrupted { try await Watch(watching, invocation).run() }
      }
    }
  }

  /// The same verb with `--watch`: syncs, does what it always does, then watches.
  ///
  /// Options that choose among the items choose from what is listed, not from what is watched.
  func watched<App: StoreApp>(_ watching: Watching<App>) -> Verb {
    Verb(
      "\(usage.text) [--watch]", summary + ";\n--watch: then keep in sync and show what changes"
    ) { arguments in
      let isWatched = arguments.flag("watch")
      let action = try parse(&arguments)
      guard isWatched else { return action }
      return { invocation in
        try await untilInterrupted {
          try await Watch(watching, invocation).run { try await action(invocation) }
        }
      }
    }
  }
}
