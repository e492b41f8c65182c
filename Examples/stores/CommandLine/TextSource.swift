import CommandLineKit

/// The source of an item's text.
enum TextSource: Hashable, Sendable {
  case text(String)
  case file(String)
  case standardInput

  /// The source named by `--text`, `--file` or `-`, or `nil` when none is.
  init?(_ arguments: inout Arguments) throws(UsageError) {
    var sources: [TextSource] = []
    if let text = arguments.value("text") { sources.append(.text(text)) }
    if let file = arguments.value("file") { sources.append(.file(file)) }
    if arguments.nextWord == "-" {
      _ = arguments.word()
      sources.append(.standardInput)
    }
    if sources.count > 1 { throw UsageError("give the text once: --text, --file or -") }
    guard let source = sources.first else { return nil }
    self = source
  }
}

extension Arguments {
  /// The value of `option` as a whole number above 0, if it is given.
  mutating func number(_ option: String) throws(UsageError) -> Int? {
    guard let text = value(option) else { return nil }
    guard let number = Int(text), number > 0 else {
      throw UsageError("--\(option) needs a whole number above 0, not \(quoted(text))")
    }
    return number
  }

  /// The value of `option` as seconds, written such as `90s`, `15m`, `12h` or `7d`.
  mutating func seconds(_ option: String) throws(UsageError) -> Double? {
    guard let text = value(option) else { return nil }
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard let number = Double(digits), number.isFinite, number >= 0 else {
      throw UsageError("\(quoted(text)) is not a length of time; write 90s, 15m, 12h or 7d")
    }
    return number * (unit ?? 86_400)
  }
}
