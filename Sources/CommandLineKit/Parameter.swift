/// A word or an option that a command reads from its command line.
package struct Parameter<Value: Sendable>: Sendable {
  /// Reads the value; throws `UsageError`.
  package let read: @Sendable (inout Arguments) throws -> Value

  /// A parameter that is read by a function.
  package init(_ read: @escaping @Sendable (inout Arguments) throws -> Value) { self.read = read }
}

extension Parameter where Value == String {
  /// The next word, which is required; `what` names it in the error.
  package static func word(_ what: String) -> Self { Parameter { try $0.word(what) } }
}

extension Parameter where Value == String? {
  /// The next word, if there is one.
  package static var optionalWord: Self { Parameter { $0.word() } }

  /// The value of an option.
  package static func option(_ name: String) -> Self { Parameter { $0.value(name) } }
}

extension Parameter where Value == Bool {
  /// Whether an option without a value is given.
  package static func flag(_ name: String) -> Self { Parameter { $0.flag(name) } }
}

extension Parameter where Value == Int? {
  /// The value of an option, a whole number above 0.
  package static func number(_ option: String) -> Self {
    Parameter { arguments in
      guard let text = arguments.value(option) else { return nil }
      guard let number = Int(text), number > 0 else {
        throw UsageError("--\(option) needs a whole number above 0, not \(quoted(text))")
      }
      return number
    }
  }
}

extension Parameter where Value == Double? {
  /// The value of an option as seconds, written such as `90s`, `15m`, `12h` or `7d`.
  package static func seconds(_ option: String) -> Self {
    Parameter { arguments in
      guard let text = arguments.value(option) else { return nil }
      let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
      let unit = text.last.flatMap { units[$0] }
      let digits = unit == nil ? text[...] : text.dropLast()
      guard let number = Double(digits), number.isFinite, number >= 0 else {
        throw UsageError("\(quoted(text)) is not a length of time; write 90s, 15m, 12h or 7d")
      }
      return number * (unit ?? 86_400)
    }
  }
}

extension Parameter where Value == TextSource? {
  /// The source of a text: `--text`, `--file`, or `-` as the next word.
  package static var text: Self { Parameter { try TextSource(&$0) } }
}

extension Parameter where Value == (String, TextSource?) {
  /// A required word, and the source of a text; a `-` may precede or follow the word.
  package static func wordAndText(_ what: String) -> Self {
    Parameter { arguments in
      let early = try TextSource(&arguments)
      let word = try arguments.word(what)
      return (word, try early ?? TextSource(&arguments))
    }
  }
}
