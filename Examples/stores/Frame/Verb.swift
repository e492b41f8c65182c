import CommandLineKit
import Foundation

/// A verb of a store or of a command.
struct Verb: Sendable {
  /// Runs the verb after its command line was read; returns the exit code.
  typealias Action = @Sendable (Invocation) async throws -> CInt

  /// The usage line; its first word is the verb's name.
  private(set) var usage: UsageLine

  /// The first line of the description in the help.
  private(set) var summary = ""

  /// Reads the words and options after the verb.
  let parse: @Sendable (inout Arguments) throws -> Action

  /// The first word of the usage line.
  var name: String { String(usage.text.prefix { $0 != " " }) }

  /// A verb with its own parser; `parse` throws `UsageError`.
  ///
  /// - Parameter usage: the usage line, or only the name for a verb of a store.
  init(_ usage: String = "", parse: @escaping @Sendable (inout Arguments) throws -> Action) {
    self.usage = UsageLine(usage)
    self.parse = parse
  }

  /// The same verb as an entry of the help describes it.
  func described(by entry: Help.Entry) -> Verb {
    var verb = self
    (verb.usage, verb.summary) = (entry.usage, entry.summary)
    return verb
  }

  /// A verb that needs the session, such as for two apps.
  static func inSession<each Value: Sendable>(
    _ usage: String = "", _ parameters: repeat Parameter<each Value>,
    run: @escaping @Sendable (Session, Output, repeat each Value) async throws -> Void
  ) -> Verb {
    Verb(usage) { arguments in
      let values = (repeat try (each parameters).read(&arguments))
      return action { session, output in try await run(session, output, repeat each values) }
    }
  }

  /// Opens the device and runs `body` on it.
  static func action(
    _ body: @escaping @Sendable (Session, Output) async throws -> Void
  ) -> Action {
    { invocation in
      let output = invocation.output
      let session = try await Session(
        invocation.home, device: invocation.device, account: invocation.account
      ) { output.note($0) }
      // The device is locked until `body` returns.
      defer { withExtendedLifetime(session) {} }
      try await body(session, output)
      return 0
    }
  }

  /// The verb `watch`: keeps in sync and prints changes.
  static func watch<App: StoreApp>(_ watching: Watching<App>) -> Verb {
    Verb("watch") { _ in
      { try await Watch(watching, $0).runUntilInterrupted() }
    }
  }

  /// The same verb with the option `--watch`, which syncs, runs the verb, and then watches.
  ///
  /// Options that select items apply to the list only, not to the changes shown after it.
  func watched<App: StoreApp>(_ watching: Watching<App>) -> Verb {
    Verb(name) { arguments in
      let isWatched = arguments.flag("watch")
      let action = try parse(&arguments)
      guard isWatched else { return action }
      return { invocation in
        try await Watch(watching, invocation).runUntilInterrupted {
          _ = try await action(invocation)
        }
      }
    }
  }
}

/// Makes the verbs that run on an app of the device.
struct Verbs<App: StoreApp>: Sendable {
  /// The step of a verb before it runs on the opened app.
  enum Access: Sendable {
    /// Nothing: it uses only the data on the device.
    case device
    /// Connects to the server, and stops the app at the end.
    case server
    /// Syncs, because what it shares must be on the server.
    case syncedServer
  }

  /// A verb that runs on the app.
  ///
  /// - Parameters:
  ///   - parameters: what it reads from the command line, in order.
  ///   - run: receives the opened app, the output, and the values of the parameters.
  func callAsFunction<each Value: Sendable>(
    _ name: String, access: Access = .device,
    _ parameters: repeat Parameter<each Value>,
    run: @escaping @Sendable (App, Output, repeat each Value) async throws -> Void
  ) -> Verb {
    Verb(name) { arguments in
      let values = (repeat try (each parameters).read(&arguments))
      return action(access) { app, output in try await run(app, output, repeat each values) }
    }
  }

  /// A verb that runs on an item of the app, which the first word names.
  func callAsFunction<Item: Sendable, each Value: Sendable>(
    _ name: String, access: Access = .device, on item: NamedItem<App, Item>,
    _ parameters: repeat Parameter<each Value>,
    run: @escaping @Sendable (App, Output, Item, repeat each Value) async throws -> Void
  ) -> Verb {
    Verb(name) { arguments in
      let word = try arguments.word(item.what)
      let values = (repeat try (each parameters).read(&arguments))
      return action(access) { app, output in
        try await run(app, output, try item.find(app, word), repeat each values)
      }
    }
  }

  /// Opens the app and runs `body` on it.
  func action(
    _ access: Access = .device,
    _ body: @escaping @Sendable (App, Output) async throws -> Void
  ) -> Verb.Action {
    Verb.action { session, output in
      let app = try session.app(App.self)
      switch access {
      case .device: try await body(app, output)
      case .server:
        try await session.device.connect()
        try await app.stopping { try await body(app, output) }
      case .syncedServer:
        _ = try await session.sync(App.self)
        try await body(app, output)
      }
    }
  }

  func sync() -> Verb { Verb("sync") { _ in syncNow } }

  /// The verb `sync [on|off]`, for a store whose sync the user can turn off.
  func sync(turn: @escaping @Sendable (App, Bool) async throws -> Void) -> Verb {
    Verb("sync") { arguments in
      guard let word = arguments.word() else { return syncNow }
      let isOn = try checked(word, "sync is turned on or off") { ["on": true, "off": false][$0] }
      return action { app, output in
        try await turn(app, isOn)
        try output.result(["sync": isOn], "sync is \(word)")
      }
    }
  }

  private var syncNow: Verb.Action {
    Verb.action { session, output in
      try output.result(await session.sync(App.self, showingOn: output))
    }
  }

  /// The verb `status`, which prints what `report` returns.
  func status(
    access: Access = .device, report: @escaping @Sendable (App) async -> SyncReport
  ) -> Verb {
    self("status", access: access) { app, output in
      try output.result(await report(app))
    }
  }
}

/// Builds a list from its elements, one after another.
@resultBuilder enum ListBuilder<Element> {
  static func buildBlock(_ elements: Element...) -> [Element] { elements }
}
