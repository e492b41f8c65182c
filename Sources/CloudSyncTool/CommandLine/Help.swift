import CommandLineKit

/// The texts of `help`, from `help.txt`.
enum Help {
  /// The sections of the file by name; a name in braces stands for the text of another section.
  private static let sections: [String: String] = {
    let file = String(decoding: PackageResources.help_txt, as: UTF8.self)
    var sections = ["default-account": ServerOptions.defaultAccount]
    for section in file.split(separator: "=== ") {
      let parts = section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      sections[String(parts[0])] = String(parts[parts.endIndex - 1])
    }
    for name in shared {
      guard let text = sections.removeValue(forKey: name) else { continue }
      let inserted = text.hasSuffix("\n") ? String(text.dropLast()) : text
      sections = sections.mapValues { $0.replacing("{\(name)}", with: inserted) }
    }
    return sections
  }()

  /// The sections that others contain, in the order in which they are inserted.
  private static let shared = ["server-options", "addressing", "default-account"]

  /// The overview.
  static let overview = sections["overview", default: ""]

  /// The help of each command.
  static let topics = sections.filter { $0.key != "overview" }

  /// The help about `topic`, or the overview.
  static func text(_ topic: String?) throws(UsageError) -> String {
    guard let topic, topic != "help" else { return overview }
    guard let text = topics[topic] else {
      throw UsageError("there is no help about \(quoted(topic))")
    }
    return text
  }

  /// The manual page.
  static var manual: String {
    ManualPage.text(
      "cloudsync", "a server on this machine that speaks CloudKit Web Services",
      overview: overview,
      topics: topics.sorted { $0.key < $1.key }.map { (name: $0.key, text: $0.value) })
  }
}
