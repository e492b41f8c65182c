import Foundation

/// Where the tool's words go: results to standard output, everything else to standard error.
struct Output: Sendable {
  /// Whether results are one JSON document.
  let isJSON: Bool

  /// Whether a person watches, so that progress is worth showing.
  let isTerminal: Bool

  init(isJSON: Bool) {
    self.isJSON = isJSON
    isTerminal = isatty(STDERR_FILENO) == 1
  }

  /// Prints `document` as JSON, or `words` for people.
  func result(_ document: some Encodable, _ words: @autoclosure () -> String) throws {
    if isJSON {
      Output.write(try Self.json(document) + "\n")
    } else {
      let text = words()
      if !text.isEmpty { Output.write(text.hasSuffix("\n") ? text : text + "\n") }
    }
  }

  /// A line of narration; nothing in JSON.
  func say(_ line: String) {
    if !isJSON { Output.write(line + "\n") }
  }

  /// A line for the person at the terminal, beside the result.
  func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }

  /// Shows how far something is, on a terminal, in place of the line before.
  func progress(_ line: String) {
    guard isTerminal, !isJSON else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
  }

  /// Removes the line of progress.
  func endProgress() { progress("") }

  static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// `document` as JSON: sorted keys, dates in ISO 8601 with milliseconds.
  static func json(_ document: some Encodable, isPretty: Bool = true) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(timestamp(date))
    }
    return String(decoding: try encoder.encode(document), as: UTF8.self)
  }
}

/// A moment in UTC with milliseconds, such as `2026-11-21T08:15:00.250Z`.
func timestamp(_ date: Date) -> String {
  date.formatted(
    Date.ISO8601FormatStyle(includingFractionalSeconds: true, timeZone: .gmt))
}

/// A number with its noun: `1 tab`, `2 tabs`, `2 entries`.
func count(_ number: Int, _ noun: String) -> String {
  let plural = noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s"
  return "\(number) \(number == 1 ? noun : String(plural))"
}

/// Bytes in the unit people read best.
func size(_ bytes: Int) -> String {
  switch bytes {
  case ..<1_000: "\(bytes) B"
  case ..<1_000_000: "\((Double(bytes) / 100).rounded() / 10) kB"
  default: "\((Double(bytes) / 100_000).rounded() / 10) MB"
  }
}
