/// A command line that can't be carried out as it stands; the message says why.
struct UsageError: Error, Hashable, CustomStringConvertible {
  /// What is wrong, in words.
  var description: String

  /// The help that shows how it is done, such as `tabs`.
  var topic: String?

  init(_ description: String, topic: String? = nil) {
    self.description = description
    self.topic = topic
  }
}

/// The words and options of a command line, taken one after another.
///
/// An option is `--name value` or `--name=value`, anywhere on the line; after `--` everything is
/// a word. Whatever nobody takes is an error in the end, so that no typing mistake goes unnoticed.
struct Arguments {
  /// Options that are followed by a value.
  private static let valued = [
    "home", "device", "account", "text", "file", "name", "older-than", "limit", "game",
  ]

  /// Options that stand alone.
  private static let flags = ["json", "help", "force"]

  private var words: [String] = []
  private var values: [String: String] = [:]
  private var given: Set<String> = []

  /// Sorts `arguments`, without the program's name, into words and options.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        words += rest
        return
      }
      if argument == "-h" {
        given.insert("help")
      } else if argument.hasPrefix("--") {
        try take(option: argument.dropFirst(2), &rest)
      } else if argument.hasPrefix("-"), argument != "-" {
        throw UsageError("unknown option \(argument)")
      } else {
        words.append(argument)
      }
    }
  }

  private mutating func take(
    option: Substring, _ rest: inout ArraySlice<String>
  ) throws(UsageError) {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    if Self.flags.contains(name) {
      guard parts.count == 1 else { throw UsageError("--\(name) takes no value") }
      given.insert(name)
    } else if Self.valued.contains(name) {
      guard values[name] == nil else { throw UsageError("--\(name) is given twice") }
      if parts.count == 2 {
        values[name] = String(parts[1])
      } else if let value = rest.popFirst() {
        values[name] = value
      } else {
        throw UsageError("--\(name) needs a value")
      }
    } else {
      throw UsageError("unknown option --\(name)")
    }
  }

  /// The next word, if there is one.
  mutating func word() -> String? {
    words.isEmpty ? nil : words.removeFirst()
  }

  /// The next word, which must be there.
  mutating func word(_ what: String) throws(UsageError) -> String {
    guard let word = word() else { throw UsageError("\(what) is missing") }
    return word
  }

  /// The next word, without taking it.
  var nextWord: String? { words.first }

  /// The value of an option, if it is given.
  mutating func value(_ name: String) -> String? {
    values.removeValue(forKey: name)
  }

  /// Whether an option that stands alone is given.
  mutating func flag(_ name: String) -> Bool {
    given.remove(name) != nil
  }

  /// Checks that everything was taken.
  func end() throws(UsageError) {
    if let word = words.first { throw UsageError("unexpected argument \(quoted(word))") }
    if let option = (values.keys.sorted() + given.sorted()).first {
      throw UsageError("--\(option) means nothing here")
    }
  }
}

/// `text` in quotes, shortened, with nothing in it that could steer a terminal.
func quoted(_ text: String) -> String {
  let plain = printable(text)
  return "\"\(plain.count > 60 ? plain.prefix(60) + "…" : plain[...])\""
}

/// `text` on one line, with control characters shown as blanks.
func printable(_ text: some StringProtocol) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: " "
        default: scalar
        }
      }))
}
