import CommandLineKit
import Foundation

/// Completes command lines for a shell.
///
/// The shells' scripts call the tool, which uses its usage lines and the data on the device. It
/// sends no requests, and omits what it can't read at once.
extension Completion {
  /// The completions of the last of `words`.
  static func answer(_ words: [String], _ environment: [String: String]) async -> String {
    let current = words.last ?? ""
    return answer(await candidates(words.dropLast(), current, environment), to: current)
  }

  /// The words that may follow `before`; `nil` for a file.
  private static func candidates(
    _ before: [String].SubSequence, _ current: String, _ environment: [String: String]
  ) async -> [Candidate]? {
    let commands = ToolCommand.all
    let line = Line(before, commands.flatMap(\.usages))
    let given = line.words
    let store = Store.all.first { $0.name == given.first }
    let device = CompletedDevice(line.values, store, environment)
    if let open = line.open { return await device.candidates(option: open) }
    let command = given.first.flatMap { name in commands.first { $0.name == name } }
    let usages = (command?.usages ?? []).filter { usage in
      given.count < 2 || usage.positionals.first?.choices.contains(given[1]) == true
    }
    if current.hasPrefix("-") {
      return ([GlobalOptions.usage] + usages).flatMap(\.options).map {
        Candidate(word: "--\($0.name)")
      }
    }
    guard let first = given.first else {
      return commands.map { Candidate(word: $0.name, meaning: $0.summary) }
        + [Candidate(word: "help", meaning: "more about a command")]
    }
    if first == "help" { return (commands.map(\.name) + ["server"]).map { Candidate(word: $0) } }
    if given.count == 1, let store {
      return store.verbs.map { Candidate(word: $0.name, meaning: $0.firstLine) }
    }
    let places = usages.compactMap { usage in
      usage.positionals.count >= given.count ? usage.positionals[given.count - 1] : nil
    }
    guard !places.contains(where: \.isFile) else { return nil }
    var found: [Candidate] = []
    for place in places { found += await device.candidates(place) }
    return found
  }
}

extension Completion {
  /// A command line up to the word that is completed.
  private struct Line {
    /// The words that are not options.
    var words: [String] = []
    /// The values of the options, by name.
    var values: [String: String] = [:]
    /// The option whose value is completed.
    var open: UsageLine.Option?

    init(_ before: [String].SubSequence, _ usages: [UsageLine]) {
      let options = ([GlobalOptions.usage] + usages).flatMap(\.options)
      for word in before {
        if let option = open {
          values[option.name] = word
          open = nil
        } else if word.hasPrefix("--") {
          let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1)
          let name = parts.first.map(String.init) ?? ""
          if parts.count == 2 {
            values[name] = String(parts[1])
          } else {
            open = options.first { $0.name == name && $0.value != nil }
          }
        } else {
          words.append(word)
        }
      }
    }
  }
}

extension Verb {
  /// The first line of its summary, as a line of its own.
  fileprivate var firstLine: String {
    let line = summary.prefix { $0 != "\n" }
    return String(line.last.map { ";,:".contains($0) } == true ? line.dropLast() : line)
  }
}

extension UsageLine.Placeholder {
  /// Whether it is a file or a folder.
  var isFile: Bool {
    names.contains { $0.hasPrefix("FILE") || $0.hasPrefix("DIR") }
  }
}

extension ToolCommand {
  /// Prints the completion script of a shell.
  static let completion = ToolCommand(
    "completion", summary: "print a completion script for bash, zsh or fish",
    help: """
      Usage: stores completion bash|zsh|fish

      Prints a script. To use it now and in each new shell:

        bash   echo 'source <(stores completion bash)' >> ~/.bashrc
        zsh    echo 'source <(stores completion zsh)' >> ~/.zshrc
        fish   stores completion fish > ~/.config/fish/completions/stores.fish

      """,
    usages: ["bash|zsh|fish"]
  ) { arguments in
    let shell = try arguments.word("the shell")
    let script = try Completion.script(of: shell, for: "stores")
    return { _ in
      Output.write(script)
      return 0
    }
  }
}
