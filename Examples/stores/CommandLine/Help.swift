import CommandLineKit

/// The texts of `--help`: those of `help.txt`, and those that the stores' verbs give.
enum Help {
  /// The sections of the file by name.
  private static let sections: [String: String] = {
    let file = String(decoding: PackageResources.help_txt, as: UTF8.self)
    let sections = file.split(separator: "=== ").map { section in
      section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    }
    return Dictionary(uniqueKeysWithValues: sections.map { (String($0[0]), String($0[1])) })
  }()

  /// The section called `name`.
  static func section(_ name: String) -> String { sections[name, default: ""] }

  /// The overview.
  static var overview: String {
    let commands =
      ToolCommand.all.map { ($0.title, $0.summary) } + [
        ("help server", "how to sync with an HTTP server"), ("man", "print the manual page"),
        ("help COMMAND", "more about a command; so does COMMAND --help"),
      ]
    return section("overview").replacing("{commands}", with: columns(commands, width: 17))
  }

  /// The help of a store: its verbs and notes.
  static func text(_ store: Store) -> String {
    let verbs = store.verbs.map { ($0.usage.text, $0.summary) }
    let notes = store.notes.isEmpty ? "" : "\n\(store.notes)\n"
    return """
      Usage: stores \(store.name) VERB

      \(store.summary.prefix(1).uppercased() + store.summary.dropFirst()).

      \(columns(verbs, width: 26))
      \(notes)
      """
  }

  /// The help about `topic`, or the overview.
  static func text(_ topic: String?) throws(UsageError) -> String {
    guard let topic, topic != "help" else { return overview }
    guard let text = topics.first(where: { $0.name == topic })?.text else {
      throw UsageError(
        "there is no help about \(quoted(topic))"
          + suggestion(for: topic, of: topics.map(\.name)))
    }
    return text
  }

  /// The manual page.
  static var manual: String {
    ManualPage.text(
      "stores", "example apps on a sync engine", overview: overview,
      topics: topics.dropLast() + [("help server", section("server"))])
  }

  /// The help of each command, then that about servers.
  private static var topics: [(name: String, text: String)] {
    ToolCommand.all.map { ($0.name, $0.help) } + [("server", section("server"))]
  }

  /// Two columns; a text that is too wide for the first column gets a separate line.
  private static func columns(_ rows: [(String, String)], width: Int) -> String {
    let gap = String(repeating: " ", count: width + 2)
    return rows.map { first, second in
      let lines = second.split(separator: "\n").joined(separator: "\n" + gap)
      let isWide = first.count > width - 2
      return "  " + first + (isWide ? "\n" + gap : String(gap.dropFirst(first.count + 2))) + lines
    }.joined(separator: "\n")
  }
}
