package import Foundation

/// A parser for the words and options of a command line.
///
/// An option is `--name value` or `--name=value`, anywhere on the line; after `--` everything is a
/// word. Call `end()` last: it throws if an argument was not read, so that typing errors are
/// detected.
package struct Arguments {
  /// The options a program knows, without their dashes.
  package struct Options: Sendable {
    /// The options with a value, given at most once.
    package var valued: Set<String>
    /// The options with a value, given any number of times.
    package var repeated: Set<String>
    /// The options without a value.
    package var flags: Set<String>

    /// The names of all options, in their order.
    fileprivate var names: [String] { valued.union(repeated).union(flags).sorted() }

    /// Defines the options of a program.
    package init(valued: Set<String> = [], repeated: Set<String> = [], flags: Set<String> = []) {
      self.valued = valued
      self.repeated = repeated
      self.flags = flags
    }
  }

  /// The words after `--`, which are not parsed; `nil` if it is absent.
  package private(set) var rest: [String]?

  private let options: Options
  private var words: [String] = []
  private var values: [String: [String]] = [:]
  private var given: Set<String> = []

  /// Parses `arguments`, without the program's name, into words and options.
  ///
  /// - Parameter keepsRest: Whether the words after `--` are stored in `rest` instead of the words.
  package init(
    _ arguments: [String], knowing options: Options, keepsRest: Bool = false
  ) throws(UsageError) {
    self.options = options
    var left = arguments[...]
    while let argument = left.popFirst() {
      if argument == "--" {
        if keepsRest { rest = Array(left) } else { words += left }
        return
      }
      if argument == "-h" {
        given.insert("help")
      } else if argument.hasPrefix("--") {
        try take(option: argument.dropFirst(2), &left)
      } else if argument.hasPrefix("-"), argument != "-" {
        throw UsageError("unknown option \(printable(argument))")
      } else {
        words.append(argument)
      }
    }
  }

  private mutating func take(
    option: Substring, _ left: inout ArraySlice<String>
  ) throws(UsageError) {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    if options.flags.contains(name) {
      guard parts.count == 1 else { throw UsageError("--\(name) takes no value") }
      given.insert(name)
    } else if options.valued.contains(name) || options.repeated.contains(name) {
      guard values[name] == nil || options.repeated.contains(name) else {
        throw UsageError("--\(name) is given twice")
      }
      if parts.count == 2 {
        values[name, default: []].append(String(parts[1]))
      } else if let value = left.popFirst() {
        values[name, default: []].append(value)
      } else {
        throw UsageError("--\(name) needs a value")
      }
    } else {
      let meant = suggestion(for: name, of: options.names)
      throw UsageError(
        "unknown option --\(printable(name))"
          + meant.replacing("did you mean ", with: "did you mean --"))
    }
  }

  /// Adds the options of a file, unless they are given on the command line.
  ///
  /// - Parameter text: a JSON object: the names of options without dashes, and strings, numbers,
  ///   `true` for an option without a value, or a list for one that may be repeated.
  package mutating func fill(from text: Data) throws(UsageError) {
    guard let members = try? JSONDecoder().decode([String: FileValue].self, from: text) else {
      throw UsageError(
        "the configuration is not a JSON object of texts, numbers, true, false and lists of texts")
    }
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      guard options.names.contains(name) else {
        throw UsageError(
          "the configuration has the unknown option \(quoted(name))"
            + suggestion(for: name, of: options.names))
      }
      switch value {
      case .flag(let isOn) where options.flags.contains(name):
        if isOn { given.insert(name) }
      case .texts(let texts) where options.repeated.contains(name),
        .texts(let texts) where options.valued.contains(name) && texts.count == 1:
        if values[name] == nil { values[name] = texts }
      default:
        let kind =
          options.flags.contains(name)
          ? "true or false" : options.valued.contains(name) ? "one text or number" : "a list"
        throw UsageError("the option \(quoted(name)) of the configuration is not \(kind)")
      }
    }
  }

  /// The next word, if there is one.
  package mutating func word() -> String? {
    words.isEmpty ? nil : words.removeFirst()
  }

  /// The next word, which is required.
  package mutating func word(_ what: String) throws(UsageError) -> String {
    guard let word = word() else { throw UsageError("\(what) is missing") }
    return word
  }

  /// The next word, without taking it.
  package var nextWord: String? { words.first }

  /// The value of an option, if it is given.
  package mutating func value(_ name: String) -> String? {
    values.removeValue(forKey: name)?.last
  }

  /// The values of an option that may be repeated, in their order.
  package mutating func values(_ name: String) -> [String] {
    values.removeValue(forKey: name) ?? []
  }

  /// Whether an option without a value is given.
  package mutating func flag(_ name: String) -> Bool {
    given.remove(name) != nil
  }

  /// All options that were not read, as they are written on a command line.
  package mutating func takeOptions() -> [String] {
    let flags = given.sorted().map { "--\($0)" }
    let valued = values.sorted { $0.key < $1.key }.flatMap { option in
      option.value.map { "--\(option.key)=\($0)" }
    }
    (given, values) = ([], [:])
    return flags + valued
  }

  /// Checks that all arguments were read.
  package func end() throws(UsageError) {
    if let word = words.first { throw UsageError("unexpected argument \(quoted(word))") }
    if let option = (values.keys.sorted() + given.sorted()).first {
      throw UsageError("--\(option) means nothing here")
    }
  }
}

/// The value of an option in a file.
private enum FileValue: Decodable {
  case flag(Bool)
  case texts([String])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let isOn = try? container.decode(Bool.self) {
      self = .flag(isOn)
    } else if let number = try? container.decode(Int.self) {
      self = .texts(["\(number)"])
    } else if let text = try? container.decode(String.self) {
      self = .texts([text])
    } else {
      self = .texts(try container.decode([String].self))
    }
  }
}
