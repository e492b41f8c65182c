import CommandLineKit

/// The first word of a command line: a store, or a command for all stores.
struct ToolCommand: Sendable {
  /// Runs the command after its command line was read; returns the exit code.
  typealias Action = @Sendable (Invocation) async throws -> CInt

  /// The word.
  let name: String

  /// The word and its arguments in the overview of the help.
  let title: String

  /// The description in the overview.
  let summary: String

  /// The help about the command.
  let help: String

  /// The usage lines, without the word.
  let usages: [UsageLine]

  /// Reads the words and options after the word.
  let parse: @Sendable (inout Arguments) throws -> Action

  /// A command for all stores.
  init(
    _ name: String, summary: String, help: String, usages: [String] = [],
    parse: @escaping @Sendable (inout Arguments) throws -> Action
  ) {
    self.name = name
    title = name
    self.summary = summary
    self.help = help
    self.usages = usages.map { UsageLine($0) }
    self.parse = parse
  }

  /// The command of a store.
  init(_ store: Store) {
    name = store.name
    title = "\(store.name) VERB"
    summary = store.summary
    help = Help.text(store)
    usages = store.verbs.map(\.usage)
    parse = { arguments in
      let word = try arguments.word("a verb for \(store.name)")
      guard let verb = store.verbs.first(where: { $0.name == word }) else {
        throw UsageError(
          "\(store.name) can't \(quoted(word))" + suggestion(for: word, of: store.verbs.map(\.name))
        )
      }
      let action = try verb.parse(&arguments)
      return { invocation in
        try await action(invocation)
        return 0
      }
    }
  }

  /// All commands, in the order of the help.
  static let all =
    Store.all.map { ToolCommand($0) } + [.sync, .account, .demo, .reset, .completion]

  /// Reads a command line after the options of every command.
  ///
  /// - Throws: `UsageError` for an invalid command line.
  static func action(_ arguments: inout Arguments) throws -> Action {
    let name = try arguments.word("a command")
    guard let command = all.first(where: { $0.name == name }) else {
      let names = all.map(\.name)
      let meant = nearest(to: name, of: names + ["help"]).map { "did you mean \($0)? There" }
      throw UsageError(
        "unknown store or command \(quoted(name)); \(meant ?? "there") are "
          + names.dropLast().joined(separator: ", ") + " and \(names.last ?? "help")")
    }
    do {
      let action = try command.parse(&arguments)
      try arguments.end()
      return action
    } catch let error as UsageError {
      throw UsageError(error.description, topic: name)
    }
  }
}
