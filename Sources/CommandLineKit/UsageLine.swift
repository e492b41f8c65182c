/// The usage of a command in one line, such as `add NAME (--text TEXT | --file FILE | -)`.
///
/// The usage line in the help also defines the options of a command and their completions, so that
/// the three cannot differ. Brackets and `|` only group; an option takes the following word as its
/// value, unless a bracket or a bar is in between.
package struct UsageLine: Hashable, Sendable {
  /// An option of the line.
  package struct Option: Hashable, Sendable {
    /// The name without its dashes.
    package var name: String
    /// The placeholder of its value; `nil` for an option without a value.
    package var value: Placeholder?
    /// Whether it may be repeated: its value's name ends in `...`.
    package var isRepeated: Bool
  }

  /// A placeholder for a word: one of several choices, or a value given by the user.
  package struct Placeholder: Hashable, Sendable {
    /// The text in the line, such as `NAME` or `on|off`.
    package var text: String

    /// Creates a placeholder.
    package init(_ text: String) { self.text = text }

    /// The allowed words; empty if any word is allowed.
    package var choices: [String] { parts.filter { !Self.isName($0) } }

    /// The kinds of values given by the user, such as `FILE`.
    package var names: [String] { parts.filter(Self.isName) }

    private var parts: [String] { text.split(separator: "|").map(String.init) }

    /// Whether a word is the name of a value: it is in capitals.
    private static func isName(_ word: String) -> Bool {
      word.contains { $0.isLetter } && word.prefix { $0 != "." }.allSatisfy { !$0.isLowercase }
    }
  }

  /// The text of the line.
  package let text: String

  /// The options, in order.
  package private(set) var options: [Option] = []

  /// The positional words, in order.
  package private(set) var positionals: [Placeholder] = []

  /// Parses a usage line.
  package init(_ text: String) {
    self.text = text
    let chunks = text.split(separator: " ")
    var position = 0
    while position < chunks.count {
      let chunk = chunks[position]
      position += 1
      let word = chunk.trimmed(of: "[()]")
      guard !word.isEmpty, word != "|", word != "-" else { continue }
      guard word.hasPrefix("--") else {
        positionals.append(Placeholder(String(word)))
        continue
      }
      var option = Option(name: String(word.dropFirst(2)), value: nil, isRepeated: false)
      let closes = chunk.last == ")" || chunk.last == "]"
      if !closes, position < chunks.count, let first = chunks[position].first,
        !"[(|-".contains(first)
      {
        var value = chunks[position].trimmed(of: "[()]")
        position += 1
        if value.hasSuffix("...") {
          option.isRepeated = true
          value = value.dropLast(3)
        }
        option.value = Placeholder(String(value))
      }
      options.append(option)
    }
  }
}

extension Substring {
  /// The text without the given characters at both ends.
  fileprivate func trimmed(of characters: String) -> Substring {
    var rest = self
    while let first = rest.first, characters.contains(first) { rest.removeFirst() }
    while let last = rest.last, characters.contains(last) { rest.removeLast() }
    return rest
  }
}

extension Arguments.Options {
  /// The options of several usages; one that takes a value in any of them takes it in all.
  package init(_ usages: [UsageLine]) {
    self.init()
    for option in usages.flatMap(\.options) {
      if option.isRepeated {
        repeated.insert(option.name)
      } else if option.value != nil {
        valued.insert(option.name)
      } else {
        flags.insert(option.name)
      }
    }
    valued.subtract(repeated)
    flags.subtract(valued.union(repeated))
  }
}
