import CommandLineKit

/// The first word of a command line: a store, or a command for all stores.
struct ToolCommand: Sendable {
  let name: String

  /// The verbs that may follow the word.
  let verbs: [Verb]

  /// The command without a verb; `nil` if it needs one.
  let alone: Verb?

  init(_ name: String, _ alone: Verb, verbs: [Verb] = []) {
    self.name = name
    self.alone = alone
    self.verbs = verbs
  }

  init(_ store: Store) {
    name = store.name
    verbs = store.verbs
    alone = nil
  }

  /// All commands, in the order of the help.
  static let all =
    Store.all.map { ToolCommand($0) } + [.sync, .account, .demo, .reset, .completion]

  /// The usage lines, without the word.
  var usages: [UsageLine] { ((alone.map { [$0] } ?? []) + verbs).map(\.usage) }

  /// Reads a command line after the options of every command.
  ///
  /// - Throws: `UsageError` for an invalid command line.
  static func action(_ arguments: inout Arguments) throws -> Verb.Action {
    let name = try arguments.word("a command")
    guard let command = all.first(where: { $0.name == name }) else {
      let names = all.map(\.name)
      let meant = nearest(to: name, of: names + ["help"]).map { "did you mean \($0)? There" }
      throw UsageError(
        "unknown store or command \(quoted(name)); \(meant ?? "there") are "
          + names.dropLast().joined(separator: ", ") + " and \(names.last ?? "help")")
    }
    do {
      let action = try command.verb(&arguments).parse(&arguments)
      try arguments.end()
      return action
    } catch let error as UsageError {
      throw UsageError(error.description, topic: name)
    }
  }

  private func verb(_ arguments: inout Arguments) throws(UsageError) -> Verb {
    if let alone, verbs.isEmpty || arguments.nextWord == nil { return alone }
    let word = try arguments.word("a verb for \(name)")
    guard let verb = verbs.first(where: { $0.name == word }) else {
      throw UsageError(
        "\(name) can't \(quoted(word))" + suggestion(for: word, of: verbs.map(\.name)))
    }
    return verb
  }
}
