import CommandLineKit

/// The texts of `help.txt`, which describe the whole command line.
///
/// The usage lines of the stores' verbs also define their options and completions, so that the help
/// can't differ from them.
enum Help {
  /// A line with a command or a verb, and the first line of its description.
  struct Entry {
    var usage: UsageLine
    var summary: String

    /// The first word of the line.
    var name: String { String(usage.text.prefix { $0 != " " }) }
  }

  /// The sections of the file in order: the overview, then the topics.
  private static let sections: [(name: String, text: String)] = {
    let file = String(decoding: PackageResources.help_txt, as: UTF8.self)
    return file.split(separator: "=== ").map { section in
      let parts = section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), String(parts[1]))
    }
  }()

  static let commands = entries("overview")

  /// The entries of a section: the lines indented by two blanks that begin with a lower-case word.
  ///
  /// The description follows two or more blanks, or is on the next line.
  static func entries(_ name: String) -> [Entry] {
    let text = sections.first { $0.name == name }?.text ?? ""
    let lines = text.split(separator: "\n")
    return zip(lines, lines.dropFirst() + [""]).compactMap { line, next in
      let entry = line.dropFirst(2)
      guard line.hasPrefix("  "), entry.first?.isLowercase == true else { return nil }
      let gap = entry.firstRange(of: "  ")
      let usage = gap.map { entry[..<$0.lowerBound] } ?? entry
      let summary = (gap.map { entry[$0.upperBound...] } ?? next).drop { $0 == " " }
      return Entry(usage: UsageLine(String(usage)), summary: String(summary))
    }
  }

  /// The help about `topic`, or the overview.
  static func text(_ topic: String?) throws(UsageError) -> String {
    let name = topic.map { $0 == "help" ? "overview" : $0 } ?? "overview"
    guard let text = sections.first(where: { $0.name == name })?.text else {
      throw UsageError(
        "there is no help about \(quoted(name))"
          + suggestion(for: name, of: sections.dropFirst().map(\.name)))
    }
    return text
  }

  static var manual: String {
    ManualPage.text(
      "stores", "example apps on a sync engine", overview: sections[0].text,
      topics: sections.dropFirst().map { $0.name == "server" ? ("help server", $0.text) : $0 })
  }
}
