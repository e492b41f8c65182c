/// A command line up to the word that is completed.
package struct PartialLine {
  /// The words that are not options.
  package private(set) var words: [String] = []
  /// The values of the options, by name.
  package private(set) var values: [String: String] = [:]
  /// The option whose value is completed.
  package private(set) var open: UsageLine.Option?

  /// Reads the words before the one that is completed; unlike ``Arguments`` it rejects nothing.
  package init(_ before: some Sequence<String>, options: [UsageLine.Option]) {
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

extension UsageLine.Placeholder {
  /// Whether it is a file or a folder.
  package var isFile: Bool {
    names.contains { $0.hasPrefix("FILE") || $0.hasPrefix("DIR") }
  }
}
