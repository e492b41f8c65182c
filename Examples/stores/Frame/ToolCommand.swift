import CommandLineKit

/// A first word of the tool's command line: a store, or something about all of them.
struct ToolCommand: Sendable {
  /// What is done once the command line is understood; returns the exit code.
  typealias Action = @Sendable (Invocation) async throws -> CInt

  /// The word.
  let name: String

  /// How the overview writes it.
  let title: String

  /// What it is for, in a line.
  let summary: String

  /// Its help.
  let help: String

  /// All ways to call it, without the word itself.
  let usages: [UsageLine]

  /// Takes the words and options behind the word.
  let parse: @Sendable (inout Arguments) throws -> Action

  /// A command about all stores.
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
          "\(store.name) can't \(quoted(word))" + hint(word, store.verbs.map(\.name)))
      }
      let action = try verb.parse(&arguments)
      return { invocation in
        try await action(invocation)
        return 0
      }
    }
  }

  /// All commands, in the order people see them.
  static let all =
    Store.all.map { ToolCommand($0) } + [.sync, .account, .demo, .reset, .completion]
}

/// What somebody may have meant, as the end of a sentence.
func hint(_ text: String, _ words: [String]) -> String {
  nearest(to: text, of: words).map { "; did you mean \($0)?" } ?? ""
}

/// A command line that was understood.
struct CommandLineRequest: Sendable {
  var options: GlobalOptions
  /// The text of help that was asked for, or what to do.
  var wish: Wish

  /// What somebody wants of the tool.
  enum Wish: Sendable {
    case help(String)
    case action(ToolCommand.Action)
  }

  /// Reads a command line, without the program's name.
  ///
  /// - Throws: `UsageError` when it makes no sense.
  init(_ line: [String]) throws {
    let usages = [GlobalOptions.usage] + ToolCommand.all.flatMap(\.usages)
    var arguments = try Arguments(line, knowing: Arguments.Options(usages))
    options = try GlobalOptions(&arguments)
    guard let name = arguments.word() else {
      guard options.wantsHelp else { throw UsageError("say what to do") }
      wish = .help(Help.overview)
      return
    }
    if options.wantsHelp {
      wish = .help(try Help.text(name))
    } else if name == "help" {
      wish = .help(try Help.text(arguments.word()))
      try arguments.end()
    } else {
      wish = .action(try Self.action(name, &arguments))
    }
  }

  private static func action(
    _ name: String, _ arguments: inout Arguments
  ) throws -> ToolCommand.Action {
    let names = ToolCommand.all.map(\.name)
    guard let command = ToolCommand.all.first(where: { $0.name == name }) else {
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
