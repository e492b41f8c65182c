import Foundation
import Synchronization

/// Rewrites the literals of snapshots in source files.
///
/// Line numbers are those of the compiled file, so earlier rewrites are taken into account.
final class InlineSnapshots: Sendable {
  static let shared = InlineSnapshots()

  private struct LineOffset {
    var line: Int
    var count: Int
  }

  private struct Contents {
    var offsets: [String: [LineOffset]] = [:]
    /// The recorded text of each line with a snapshot.
    var texts: [String: String] = [:]
  }

  private let contents = Mutex(Contents())

  /// Replaces the literal of the argument `matches` in the call at `line` by `text`.
  func rewrite(to text: String, filePath: String, line: Int) throws {
    try contents.withLock { contents in
      let place = "\(filePath):\(line)"
      guard contents.texts[place] ?? text == text else {
        throw SnapshotMismatch(
          message: """
            The snapshot at line \(line) has another text in each run of its test. Store it in a \
            file, with a name for each run.
            """, filePath: filePath, line: line)
      }
      let file = URL(fileURLWithPath: filePath)
      let source = try String(contentsOf: file, encoding: .utf8)
      let isLineEnd = InlineSnapshots.isLineEnd
      var lines = source.split(omittingEmptySubsequences: false, whereSeparator: isLineEnd)
        .map(String.init)
      var ends = source.filter(isLineEnd).map { String($0) } + [""]
      let offset = (contents.offsets[filePath] ?? []).filter { $0.line < line }.reduce(0) {
        $0 + $1.count
      }
      guard let literal = InlineSnapshots.literal(in: lines, from: line - 1 + offset) else {
        throw SnapshotMismatch(
          message: """
            The snapshot at line \(line) can't be recorded: the argument `matches` must be a \
            literal of several lines without #, between lines that end and begin with three \
            quotation marks.
            """, filePath: filePath, line: line)
      }
      let indent = String(lines[literal.upperBound].prefix(while: InlineSnapshots.isBlank))
      let new = InlineSnapshots.escaped(text)
        .split(separator: "\n", omittingEmptySubsequences: false).map { line in
          line.isEmpty ? "" : indent + line
        }
      let old = literal.lowerBound + 1..<literal.upperBound
      let end = ends[literal.lowerBound]
      lines.replaceSubrange(old, with: new)
      ends.replaceSubrange(old, with: Array(repeating: end, count: new.count))
      let result = zip(lines, ends).map { $0 + $1 }.joined()
      try Data(result.utf8).write(to: file, options: .atomic)
      contents.offsets[filePath, default: []].append(
        LineOffset(line: line, count: new.count - old.count))
      contents.texts[place] = text
    }
  }

  /// The lines that open and close the literal.
  private static func literal(in lines: [String], from start: Int) -> Range<Int>? {
    guard lines.indices.contains(start),
      let argument = lines[start...].prefix(12).firstIndex(where: { $0.contains("matches:") }),
      let opening = lines[argument...].prefix(2).firstIndex(where: { line in
        [" \"\"\"", "\t\"\"\""].contains { line.hasSuffix($0) }
      }), opening == argument || lines[argument].hasSuffix("matches:"),
      let closing = lines[(opening + 1)...].firstIndex(where: {
        $0.drop(while: isBlank).hasPrefix("\"\"\"")
      })
    else { return nil }
    return opening..<closing
  }

  /// The text as a literal of several lines spells it.
  ///
  /// Three quotation marks in a row would end the literal, and a carriage return in it is read as
  /// the end of a line.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
      let quotes = rest.prefix { $0 == "\"" }.count
      switch scalar {
      case "\"" where quotes > 2: escaped += String(repeating: "\\\"", count: quotes)
      case "\\": escaped += "\\\\"
      case "\r": escaped += "\\r"
      default: escaped.unicodeScalars.append(scalar)
      }
      rest = rest.dropFirst(quotes > 2 ? quotes : 1)
    }
    return escaped
  }

  /// Whether the character indents a line.
  private static func isBlank(_ character: Character) -> Bool {
    character == " " || character == "\t"
  }

  /// Whether the character ends a line of a source file.
  private static func isLineEnd(_ character: Character) -> Bool {
    character == "\n" || character == "\r\n" || character == "\r"
  }
}
