/// The usage of a command in one line, such as `add NAME (--text TEXT | --file FILE | -)`.
///
/// The line that people read in the help is also what says which options a command knows and what
/// may be completed where, so that the three can't differ. Brackets and `|` group for the eye; an
/// option takes the word behind it as its value, unless a bracket or a bar comes between.
package struct UsageLine: Hashable, Sendable {
  /// An option of the line.
  package struct Option: Hashable, Sendable {
    /// The name without its dashes.
    package var name: String
    /// What its value is called; `nil` for an option that stands alone.
    package var value: Place?
    /// Whether it may be given several times: its value's name ends in `...`.
    package var isRepeated: Bool
  }

  /// A word that goes somewhere: one of a few, or something the person names.
  package struct Place: Hashable, Sendable {
    /// What the line says, such as `NAME` or `on|off`.
    package var text: String

    /// Names what goes there.
    package init(_ text: String) { self.text = text }

    /// The words that can stand there; empty when it can be anything.
    package var choices: [String] { parts.filter { !Self.isName($0) } }

    /// What somebody has to name, such as `FILE`.
    package var names: [String] { parts.filter(Self.isName) }

    private var parts: [String] { text.split(separator: "|").map(String.init) }

    /// Whether a word stands for something else: it is in capitals.
    private static func isName(_ word: String) -> Bool {
      word.contains { $0.isLetter } && word.prefix { $0 != "." }.allSatisfy { !$0.isLowercase }
    }
  }

  /// The line as people read it.
  package let text: String

  /// Its options, in their order.
  package private(set) var options: [Option] = []

  /// Its words that are no options, in their order.
  package private(set) var places: [Place] = []

  /// Reads a line.
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
        places.append(Place(String(word)))
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
        option.value = Place(String(value))
      }
      options.append(option)
    }
  }
}

extension Substring {
  /// Without the given characters at both ends.
  fileprivate func trimmed(of characters: String) -> Substring {
    var rest = self
    while let first = rest.first, characters.contains(first) { rest.removeFirst() }
    while let last = rest.last, characters.contains(last) { rest.removeLast() }
    return rest
  }
}

extension Arguments.Options {
  /// All options of some usages; one that takes a value somewhere takes it everywhere.
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
