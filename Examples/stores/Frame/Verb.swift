import CommandLineKit

/// A command of a store.
struct Verb: Sendable {
  /// Runs the command after its command line was read.
  typealias Action = @Sendable (Invocation) async throws -> Void

  /// What a verb does before it runs on the opened app.
  enum Access: Sendable {
    /// Nothing: it uses only the data on the device.
    case device
    /// Connects to the server, and stops the app at the end.
    case server
    /// Syncs, because what it shares must be on the server.
    case syncedServer
  }

  /// The usage line; its first word is the verb's name.
  let usage: UsageLine

  /// The description in the help.
  let summary: String

  /// Reads the words and options after the verb.
  let parse: @Sendable (inout Arguments) throws -> Action

  /// The first word of the usage line.
  var name: String { String(usage.text.prefix { $0 != " " }) }

  /// A verb with its own parser; `parse` throws `UsageError`.
  init(
    _ usage: String, _ summary: String,
    parse: @escaping @Sendable (inout Arguments) throws -> Action
  ) {
    self.usage = UsageLine(usage)
    self.summary = summary
    self.parse = parse
  }

  /// A verb that runs on an app of the device.
  ///
  /// - Parameters:
  ///   - parameters: what it reads from the command line, in order.
  ///   - run: receives the opened app, the output, and the values of the parameters.
  init<App: StoreApp, each Value: Sendable>(
    _ usage: String, _ summary: String, on app: App.Type, access: Access = .device,
    _ parameters: repeat Parameter<each Value>,
    run: @escaping @Sendable (App, Output, repeat each Value) async throws -> Void
  ) {
    self.init(usage, summary) { arguments in
      let values = (repeat try (each parameters).read(&arguments))
      return Self.action(on: App.self, access) { app, output in
        try await run(app, output, repeat each values)
      }
    }
  }

  /// A verb that needs the session, such as for two apps.
  static func inSession<each Value: Sendable>(
    _ usage: String, _ summary: String, _ parameters: repeat Parameter<each Value>,
    run: @escaping @Sendable (Session, Output, repeat each Value) async throws -> Void
  ) -> Verb {
    Verb(usage, summary) { arguments in
      let values = (repeat try (each parameters).read(&arguments))
      return { invocation in
        try await invocation.withSession { session in
          try await run(session, invocation.output, repeat each values)
        }
      }
    }
  }

  /// Opens an app and runs `body` on it.
  static func action<App: StoreApp>(
    on app: App.Type, _ access: Access = .device,
    _ body: @escaping @Sendable (App, Output) async throws -> Void
  ) -> Action {
    { invocation in
      try await invocation.withSession { session in
        let app = try session.app(App.self)
        switch access {
        case .device: try await body(app, invocation.output)
        case .server:
          try await session.device.connect()
          try await app.stopping { try await body(app, invocation.output) }
        case .syncedServer:
          _ = try await session.sync(App.self)
          try await body(app, invocation.output)
        }
      }
    }
  }

  /// The verb `sync`.
  static func sync<App: StoreApp>(_ app: App.Type) -> Verb {
    Verb("sync", "fetch and send now") { _ in syncing(app) }
  }

  /// The verb `sync [on|off]`, for a store whose sync the user can turn off.
  static func sync<App: StoreApp>(
    _ app: App.Type, _ summary: String,
    turn: @escaping @Sendable (App, Bool) async throws -> Void
  ) -> Verb {
    Verb("sync [on|off]", summary) { arguments in
      guard let word = arguments.word() else { return syncing(app) }
      guard let isOn = ["on": true, "off": false][word] else {
        throw UsageError("sync is turned on or off, not \(quoted(word))")
      }
      return action(on: App.self) { app, output in
        try await turn(app, isOn)
        try output.result(["sync": isOn], "sync is \(word)")
      }
    }
  }

  private static func syncing<App: StoreApp>(_ app: App.Type) -> Action {
    { invocation in
      let report = try await invocation.withSession {
        try await $0.sync(App.self, showingOn: invocation.output)
      }
      try invocation.output.result(report.document, report.words)
    }
  }

  /// The verb `watch`: keeps in sync and prints changes.
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

  /// The same verb with the option `--watch`, which syncs, runs the verb, and then watches.
  ///
  /// Options that select items apply to the list only, not to the changes shown after it.
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

/// Builds a list from its elements, one after another.
@resultBuilder enum ListBuilder<Element> {
  static func buildBlock(_ elements: Element...) -> [Element] { elements }
}
