import CommandLineKit
import LoopbackHTTP

/// The words of `cloudsync`, from its help texts and option table.
extension Completion {
  /// The completions of the last of `words`.
  static func answer(_ words: [String]) -> String {
    let current = words.last ?? ""
    return answer(candidates(words.dropLast(), current), to: current)
  }

  /// The options whose value is a file.
  private static let files: Set = [
    "data", "output", "import", "export-on-exit", "config", "request-log", "faults",
  ]

  /// The words that may follow `before`; `nil` for a file.
  private static func candidates(_ before: [String].SubSequence, _ current: String) -> [Candidate]?
  {
    // What follows is another program's.
    if before.contains("--") { return nil }
    var words: [String] = []
    var open: String?
    for word in before {
      if open != nil {
        open = nil
      } else if word.hasPrefix("--") {
        let name = String(word.dropFirst(2))
        if Command.options.valued.contains(name) || Command.options.repeated.contains(name) {
          open = name
        }
      } else {
        words.append(word)
      }
    }
    if let open {
      if files.contains(open) { return nil }
      return open == "environment" ? list(["development", "production"]) : []
    }
    if current.hasPrefix("-") { return options(words.first) }
    switch words.first {
    case nil: return Help.commands
    case "help": return list(Help.topics.keys)
    case "completion": return words.count == 1 ? list(shells) : []
    case "inspect": return words.count == 1 ? list(Subject.allCases.map(\.rawValue)) : []
    case "faults":
      if words.count == 1 { return list(["list", "add", "apply", "remove", "clear"]) }
      if words == ["faults", "apply"] { return nil }
      return words == ["faults", "add"] ? list(faultActionNames) : []
    case "keys":
      return words.count == 1
        ? list(["list", "add", "remove"]) : words == ["keys", "add"] ? nil : []
    case "state": return words.count == 1 ? list(["show", "diff"]) : nil
    case "trace", "import": return nil
    default: return []
    }
  }

  private static func list(_ words: some Sequence<String>) -> [Candidate] {
    words.map { Candidate(word: $0) }
  }

  /// The options that the help of a command names, and those of all commands.
  private static func options(_ command: String?) -> [Candidate] {
    let text = command.flatMap { Help.topics[$0] } ?? ""
    let named = text.matches(of: /--[a-z][a-z-]+/).map { String($0.output) }
    return list(Set(named + ["--json", "--help", "--version"]))
  }
}

extension Help {
  /// The commands with their descriptions, from the overview.
  fileprivate static var commands: [Completion.Candidate] {
    overview.split(separator: "\n").compactMap { line in
      guard let match = line.wholeMatch(of: #/\ \ ([a-z]+)( [-A-Z a-z]*?)?\ \ +(.+)/#) else {
        return nil
      }
      return Completion.Candidate(word: String(match.1), meaning: String(match.3))
    }
  }
}
