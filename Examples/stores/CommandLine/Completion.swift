import CommandLineKit
import Foundation

/// What a shell may put where somebody presses the tab key.
///
/// The shells' scripts know nothing about the stores: they ask the tool, which looks into the same
/// usages that it reads command lines by.
enum Completion {
  /// The hidden command that the scripts call, with all words up to the one being written.
  static let word = "complete"

  /// What may stand for the last of `words`: `files`, or `words` and one possible word a line.
  static func answer(_ words: [String], _ environment: [String: String]) -> String {
    let current = words.last ?? ""
    switch candidates(words.dropLast(), current, environment) {
    case nil: return "files\n"
    case let found?:
      let fitting = Set(found.filter { $0.hasPrefix(current) }).sorted()
      return (["words"] + fitting).map { $0 + "\n" }.joined()
    }
  }

  /// The words that may follow `before`; `nil` where it is a file.
  private static func candidates(
    _ before: [String].SubSequence, _ current: String, _ environment: [String: String]
  ) -> [String]? {
    let commands = ToolCommand.all
    let options = ([GlobalOptions.usage] + commands.flatMap(\.usages)).flatMap(\.options)
    var given: [String] = []
    var open: UsageLine.Option?
    for word in before {
      if open != nil {
        open = nil
      } else if word.hasPrefix("--") {
        open = options.first { "--\($0.name)" == word && $0.value != nil }
      } else {
        given.append(word)
      }
    }
    if let open { return values(open, environment) }
    let command = given.first.flatMap { name in commands.first { $0.name == name } }
    let usages = (command?.usages ?? []).filter { usage in
      given.count < 2 || usage.places.first?.choices.contains(given[1]) == true
    }
    if current.hasPrefix("-") {
      return ([GlobalOptions.usage] + usages).flatMap(\.options).map { "--\($0.name)" }
    }
    guard let first = given.first else { return commands.map(\.name) + ["help"] }
    if first == "help" { return commands.map(\.name) + ["server"] }
    let places = usages.compactMap { usage in
      usage.places.count >= given.count ? usage.places[given.count - 1] : nil
    }
    return places.contains(where: \.isFile) ? nil : places.flatMap(\.choices)
  }

  private static func values(
    _ option: UsageLine.Option, _ environment: [String: String]
  ) -> [String]? {
    switch option.name {
    case "device":
      let home = try? Home(nil, environment: environment, server: .home)
      let folder = home?.item("devices").path ?? ""
      return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    case "store": return Store.all.map(\.name)
    default: return option.value?.isFile == true ? nil : option.value?.choices ?? []
    }
  }
}

extension UsageLine.Place {
  /// Whether a file or a folder goes there.
  fileprivate var isFile: Bool {
    names.contains { $0.hasPrefix("FILE") || $0.hasPrefix("DIR") }
  }
}

extension ToolCommand {
  /// Prints what a shell needs to complete command lines.
  static let completion = ToolCommand(
    "completion", summary: "a script that teaches a shell to complete: bash, zsh or fish",
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
      local IFS=$'\\n' lines
      lines=($("${COMP_WORDS[0]}" \(word) "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
      COMPREPLY=()
      if [[ ${lines[0]} == files ]]; then
        compopt -o default 2>/dev/null
      else
        COMPREPLY=("${lines[@]:1}")
      fi
    }
    complete -F _stores stores

    """,
    "zsh": """
    #compdef stores
    _stores() {
      local -a lines
      lines=("${(@f)$("${words[1]}" \(word) "${(@)words[2,CURRENT]}" 2>/dev/null)}")
      if [[ ${lines[1]} == files ]]; then
        _files
      else
        compadd -- "${(@)lines[2,-1]}"
      fi
    }
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _stores stores

    """,
    "fish": """
    function __stores_complete
      set -l before (commandline -opc)
      set -l lines (stores \(word) $before[2..-1] (commandline -ct | string collect -a) 2>/dev/null)
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
