import Foundation
import Synchronization

/// Where the tool's words go: results to standard output, everything else to standard error.
package struct Output: Sendable {
  /// Whether results are one JSON document.
  package let isJSON: Bool

  /// Where results go.
  package let terminal: Terminal

  /// Where everything else goes.
  package let errors: Terminal

  /// Whether a person watches, so that progress is worth showing.
  package var isTerminal: Bool { errors.isTerminal }

  /// Looks where the words go.
  package init(
    isJSON: Bool, colors: Terminal.Colors = .auto,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.isJSON = isJSON
    terminal = Terminal(descriptor: STDOUT_FILENO, colors: colors, environment: environment)
    errors = Terminal(descriptor: STDERR_FILENO, colors: colors, environment: environment)
  }

  /// Whether there is a line of progress; the same for all copies.
  private final class DrawnLine: Sendable {
    let isThere = Mutex(false)
  }

  private let drawn = DrawnLine()

  /// Prints `document` as JSON, or `words` for people.
  package func result(_ document: some Encodable, _ words: @autoclosure () -> String) throws {
    if isJSON {
      Output.write(try Self.json(document) + "\n")
    } else {
      let text = words()
      if !text.isEmpty { Output.write(text.hasSuffix("\n") ? text : text + "\n") }
    }
  }

  /// Prints `document` as JSON, or a table for people.
  ///
  /// - Parameters:
  ///   - empty: what is said when the table has no rows.
  ///   - note: what is said below it, if anything.
  package func result(
    _ document: some Encodable, _ table: @autoclosure () -> Table, empty: String,
    note: String = ""
  ) throws {
    try result(document, tableWords(table(), empty, note))
  }

  private func tableWords(_ table: Table, _ empty: String, _ note: String) -> String {
    let lines = table.rows.isEmpty ? [empty] : table.lines(for: terminal)
    return (lines + (note.isEmpty ? [] : [terminal.styled(note, .dim)])).joined(separator: "\n")
  }

  /// What went wrong, in one line that begins with the program's name.
  package func problem(_ program: String, _ words: String) {
    note(errors.styled("\(program):", .red) + " " + words)
  }

  /// A line of narration; nothing in JSON.
  package func say(_ line: String) {
    if !isJSON { Output.write(line + "\n") }
  }

  /// A line for the person at the terminal, beside the result.
  package func note(_ line: String) { Output.writeError(line + "\n") }

  /// Shows how far something is, on a terminal, in place of the line before.
  package func progress(_ line: String) {
    guard showsProgress else { return }
    drawn.isThere.withLock { $0 = true }
    Output.writeError(ProgressBar.clearing + line.cut(to: (errors.width ?? 80) - 1))
  }

  /// Removes the line of progress, if there is one.
  package func endProgress() {
    let isDrawn = drawn.isThere.withLock { isThere in
      defer { isThere = false }
      return isThere
    }
    if isDrawn { Output.writeError(ProgressBar.clearing) }
  }

  /// Writes to standard output; ends the process without a word when nobody reads it any more.
  package static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes to standard output; ends the process without a word when nobody reads it any more.
  package static func write(_ bytes: [UInt8]) {
    if put(bytes, STDOUT_FILENO) == EPIPE {
      // What a shell says of a program that the broken pipe killed.
      exit(128 + SIGPIPE)
    }
  }

  /// Writes to standard error, if anybody reads it.
  package static func writeError(_ text: String) { _ = put(Array(text.utf8), STDERR_FILENO) }

  /// Writes all bytes; the system's error where that fails, else 0.
  private static func put(_ bytes: [UInt8], _ descriptor: CInt) -> CInt {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        left = left.dropFirst(count)
      } else if errno == EAGAIN {
        // Somebody who shares the terminal made it non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// `document` as JSON: sorted keys, dates in ISO 8601 with milliseconds.
  package static func json(_ document: some Encodable, isPretty: Bool = true) throws -> String {
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
