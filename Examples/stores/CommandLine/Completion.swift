import CommandLineKit
import Foundation

/// Completes command lines for a shell.
///
/// The shells' scripts call the tool, which uses its usage lines and the data on the device. It
/// sends no requests, and omits what it can't read at once.
enum Completion {
  /// The hidden command that the scripts call, with all words up to the one that is completed.
  static let word = "complete"

  /// A possible word.
  struct Candidate: Hashable {
    var word: String
    /// A description, for shells that show one.
    var meaning = ""
  }

  /// The completions of the last of `words`: the line `files`, or the line `words` and then a line
  /// for each word, with a tab and its meaning if it has one.
  static func answer(_ words: [String], _ environment: [String: String]) async -> String {
    let current = words.last ?? ""
    guard let found = await candidates(words.dropLast(), current, environment) else {
      return "files\n"
    }
    let fitting = Set(found.compactMap { $0.completing(current) })
    return "words\n"
      + fitting.sorted { $0.word < $1.word }.map { candidate in
        let meaning = printable(candidate.meaning)
        return candidate.word + (meaning.isEmpty ? "" : "\t" + meaning) + "\n"
      }.joined()
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

extension Completion.Candidate {
  /// The candidate if it begins with `current`.
  ///
  /// IDs are matched in either case, and completed in the case in which they were begun.
  fileprivate func completing(_ current: String) -> Completion.Candidate? {
    if word.hasPrefix(current) { return self }
    guard UUID(uuidString: word) != nil, word.lowercased().hasPrefix(current) else { return nil }
    return Completion.Candidate(word: word.lowercased(), meaning: meaning)
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
    guard let script = Completion.scripts[shell] else {
      throw UsageError(
        "there is no completion for \(quoted(shell)); there is for bash, zsh and fish")
    }
    return { _ in
      Output.write(script)
      return 0
    }
  }
}

extension Completion {
  /// The script of each shell.
  fileprivate static let scripts = [
    "bash": """
    _stores() {
      local IFS=$'\\n' lines line
      lines=($("${COMP_WORDS[0]}" \(word) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
      COMPREPLY=()
      if [[ ${lines[0]} == files ]]; then
        compopt -o default 2>/dev/null
      else
        for line in "${lines[@]:1}"; do
          COMPREPLY+=("$(printf '%q' "${line%%$'\\t'*}")")
        done
      fi
    }
    complete -F _stores stores

    """,
    "zsh": """
    #compdef stores
    _stores() {
      local -a lines found
      lines=("${(@f)$("${words[1]}" \(word) "${(@)words[2,CURRENT]}" 2>/dev/null)}")
      if [[ ${lines[1]} == files ]]; then
        _files
      else
        found=("${(@)lines[2,-1]}")
        compadd -l -d found -- "${(@)found%%$'\\t'*}"
      fi
    }
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _stores stores

    """,
    "fish": """
    function __stores_complete
      set -l before (commandline -opc)
      set -l current (commandline -ct)
      set -l lines (stores \(word) $before[2..-1] "$current" 2>/dev/null)
      if test "$lines[1]" = files
        __fish_complete_path (commandline -ct)
      else
        printf '%s\\n' $lines[2..-1]
      end
    end
    complete -c stores -f -a '(__stores_complete)'

    """,
  ]
}
