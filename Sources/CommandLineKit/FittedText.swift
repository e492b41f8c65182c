/// A help text, rewrapped to fit a terminal.
///
/// The layout determines the structure: lines from the first column are paragraphs; indented lines
/// are entries, whose description follows two or more blanks and continues in lines that start in
/// the description's column.
package struct FittedText {
  private struct Entry {
    var indent: Int
    var head: String
    var column: Int
    var rest: [String]
  }

  /// The minimum width of a description before it is moved to separate lines.
  private static let narrowest = 30

  private let width: Int
  private var lines: [String] = []

  /// `text` in lines of at most `width` columns, except for longer words.
  package static func lines(_ text: String, width: Int) -> String {
    var fitted = FittedText(width: width)
    var paragraph: [String] = []
    var entry: Entry?
    func flush() {
      if !paragraph.isEmpty { fitted.add(paragraph) }
      if let entry { fitted.add(entry) }
      (paragraph, entry) = ([], nil)
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      let indent = line.prefix { $0 == " " }.count
      if indent == 0 {
        if line.isEmpty || entry != nil { flush() }
        if line.isEmpty { fitted.lines.append("") } else { paragraph.append(line) }
      } else if var open = entry, indent > open.indent, indent == open.column || open.rest.isEmpty {
        open.column = indent
        open.rest.append(String(line.dropFirst(indent)))
        entry = open
      } else {
        flush()
        entry = Self.entry(line, indent)
      }
    }
    flush()
    return fitted.lines.joined(separator: "\n")
  }

  private init(width: Int) { self.width = width }

  private static func entry(_ line: String, _ indent: Int) -> Entry {
    let body = line.dropFirst(indent)
    guard let gap = body.firstRange(of: "  ") else {
      return Entry(indent: indent, head: String(body), column: indent + 4, rest: [])
    }
    let rest = body[gap.lowerBound...].drop { $0 == " " }
    return Entry(
      indent: indent, head: String(body[..<gap.lowerBound]), column: line.count - rest.count,
      rest: [String(rest)])
  }

  private mutating func add(_ paragraph: [String]) {
    let fits = paragraph.allSatisfy { $0.displayWidth <= width }
    lines += fits ? paragraph : broken(paragraph.joined(separator: " "), to: width)
  }

  private mutating func add(_ entry: Entry) {
    let start = String(repeating: " ", count: entry.indent) + entry.head
    let gap = String(repeating: " ", count: entry.column)
    let isBeside = start.displayWidth + 2 <= entry.column
    let room = width - entry.column
    if entry.rest.allSatisfy({ $0.displayWidth <= room }), start.displayWidth <= width {
      let described = entry.rest.map { gap + $0 }
      guard isBeside, let first = described.first else {
        lines += [start] + described
        return
      }
      lines.append(start + first.dropFirst(start.count))
      lines += described.dropFirst()
      return
    }
    let description = entry.rest.joined(separator: " ")
    if room >= Self.narrowest, isBeside {
      let described = broken(description, to: room).map { gap + $0 }
      lines.append(start + (described.first ?? "").dropFirst(start.count))
      lines += described.dropFirst()
    } else {
      let indent = String(repeating: " ", count: entry.indent + 4)
      let head = broken(entry.head, to: width - entry.indent)
      for (number, line) in head.enumerated() {
        lines.append((number == 0 ? indent.dropLast(4) : indent[...]) + line)
      }
      let column = room >= Self.narrowest ? gap : indent
      lines += broken(description, to: width - column.count).map { column + $0 }
    }
  }

  private func broken(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.displayWidth + 1 + word.displayWidth > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
