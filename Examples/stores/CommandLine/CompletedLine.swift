import CommandLineKit

/// A command line up to the word that is being written.
struct CompletedLine {
  /// The words that are no options.
  private(set) var words: [String] = []

  /// The values of the options, by name.
  private(set) var values: [String: String] = [:]

  /// The option whose value is being written.
  private(set) var open: UsageLine.Option?

  /// Sorts the words `before` the one being written.
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
