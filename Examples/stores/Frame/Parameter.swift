import CommandLineKit

/// A word or an option that a verb reads from its command line.
struct Parameter<Value: Sendable>: Sendable {
  /// Reads the value; throws `UsageError`.
  let read: @Sendable (inout Arguments) throws -> Value

  /// A parameter that is read by a function.
  init(_ read: @escaping @Sendable (inout Arguments) throws -> Value) { self.read = read }
}

extension Parameter where Value == String {
  /// The next word, which is required; `what` names it in the error.
  static func word(_ what: String) -> Self { Parameter { try $0.word(what) } }
}

extension Parameter where Value == String? {
  /// The next word, if there is one.
  static var optionalWord: Self { Parameter { $0.word() } }

  /// The value of an option.
  static func option(_ name: String) -> Self { Parameter { $0.value(name) } }
}

extension Parameter where Value == Bool {
  /// Whether an option without a value is given.
  static func flag(_ name: String) -> Self { Parameter { $0.flag(name) } }
}

extension Parameter where Value == Int? {
  /// The value of an option, an integer above 0.
  static func number(_ option: String) -> Self { Parameter { try $0.number(option) } }
}

extension Parameter where Value == TextSource? {
  /// The source of a text: `--text`, `--file`, or `-` as the next word.
  static var text: Self { Parameter { try TextSource(&$0) } }
}

extension Parameter where Value == (String, TextSource?) {
  /// A required word, and the source of a text; a `-` may precede or follow the word.
  static func wordAndText(_ what: String) -> Self {
    Parameter { arguments in
      let early = try TextSource(&arguments)
      let word = try arguments.word(what)
      return (word, try early ?? TextSource(&arguments))
    }
  }
}
