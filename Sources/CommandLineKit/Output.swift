import Foundation
import Synchronization

/// The output of a tool: results go to standard output, everything else to standard error.
package struct Output: Sendable {
  /// Whether results are printed as one JSON document.
  package let isJSON: Bool

  /// The terminal for results.
  package let terminal: Terminal

  /// The terminal for messages.
  package let errors: Terminal

  /// Whether messages go to a terminal, so that progress is shown.
  package var isTerminal: Bool { errors.isTerminal }

  /// Detects the terminals.
  package init(
    isJSON: Bool, colors: Terminal.Colors = .auto,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.isJSON = isJSON
    terminal = Terminal(descriptor: STDOUT_FILENO, colors: colors, environment: environment)
    errors = Terminal(descriptor: STDERR_FILENO, colors: colors, environment: environment)
  }

  /// Whether a progress line is drawn; shared by all copies.
  private final class DrawnLine: Sendable {
    let isThere = Mutex(false)
  }

  private let drawn = DrawnLine()

  /// Prints `document` as JSON, or `words` as text.
  package func result(_ document: some Encodable, _ words: @autoclosure () -> String) throws {
    if isJSON {
      Output.write(try Self.json(document) + "\n")
    } else {
      let text = words()
      if !text.isEmpty { Output.write(text.hasSuffix("\n") ? text : text + "\n") }
    }
  }

  /// Prints `document` as JSON, or a table.
  ///
  /// - Parameters:
  ///   - empty: the text for a table without rows.
  ///   - note: the text below the table, if any.
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

  /// Prints an error as one line that starts with the program's name.
  package func problem(_ program: String, _ words: String) {
    note(errors.styled("\(program):", .red) + " " + words)
  }

  /// Prints a line of text; prints nothing in JSON mode.
  package func say(_ line: String) {
    if !isJSON { Output.write(line + "\n") }
  }

  /// Prints a message, in addition to the result.
  package func note(_ line: String) { Output.writeError(line + "\n") }

  /// Shows progress on a terminal, replacing the previous line.
  package func progress(_ line: String) {
    guard showsProgress else { return }
    drawn.isThere.withLock { $0 = true }
    Output.writeError(ProgressBar.clearing + line.cut(to: (errors.width ?? 80) - 1))
  }

  /// Removes the progress line, if there is one.
  package func endProgress() {
    let isDrawn = drawn.isThere.withLock { isThere in
      defer { isThere = false }
      return isThere
    }
    if isDrawn { Output.writeError(ProgressBar.clearing) }
  }

  /// Writes to standard output.
  ///
  /// Ends the process if that fails: silently if the reader of a pipe is gone, else with a message.
  package static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes to standard output; ends the process if that fails.
  package static func write(_ bytes: [UInt8]) {
    switch put(bytes, STDOUT_FILENO) {
    case 0: break
    // The exit code that a shell reports for a program killed by SIGPIPE.
    case EPIPE: end(128 + SIGPIPE)
    case let error:
      writeError("error: cannot write to standard output: \(String(cString: strerror(error)))\n")
      end(ExitCode.cannotCreate)
    }
  }

  /// Ends the process with an exit code.
  ///
  /// The exit handlers of libraries do not run: they free objects that connections on other threads
  /// may still use, such as the locks of TLS.
  package static func end(_ code: CInt) -> Never { _exit(code) }

  /// Opens the standard descriptors that the process was started without, so that no file gets
  /// their numbers; reading and writing them fails.
  package static func openStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Writes to standard error, ignoring errors.
  package static func writeError(_ text: String) { _ = put(Array(text.utf8), STDERR_FILENO) }

  /// Writes all bytes; returns the system's error, or 0.
  package static func put(_ bytes: [UInt8], _ descriptor: CInt) -> CInt {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        left = left.dropFirst(count)
      } else if count == 0 {
        return EIO
      } else if errno == EAGAIN {
        // Another process that shares the terminal made it non-blocking.
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
