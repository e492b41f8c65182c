import CommandLineKit
import Foundation

/// Rows of text in columns that fit the terminal.
struct Table {
  /// A column.
  struct Column {
    var title: String
    /// Whether the column contains numbers, which are right-aligned.
    var isNumeric = false
    /// Whether the column is shortened before the others.
    var yields = false
  }

  let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row with a text for each column.
  mutating func add(_ row: [String]) { rows.append(row.map { printable($0) }) }

  /// The lines, each ended by a line feed.
  ///
  /// Empty columns are omitted.
  /// - Parameter width: The width of the terminal, to which the widest columns are shortened; `nil`
  ///   for no limit.
  func text(width: Int?) -> String {
    let shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
    var widths = shown.map { index in
      rows.reduce(columns[index].title.count) { max($0, Table.width(of: $1[index])) }
    }
    if let width {
      let yielding = widths.indices.filter { columns[shown[$0]].yields }
      let room = width - 2 * max(0, shown.count - 1)
      Table.fit(&widths, yielding, into: room)
      Table.fit(&widths, Array(widths.indices), into: room)
    }
    var lines = [line(shown.map { columns[$0].title }, shown, widths)]
    lines += rows.map { row in line(shown.map { row[$0] }, shown, widths) }
    return lines.map { $0 + "\n" }.joined()
  }

  private func line(_ cells: [String], _ shown: [Int], _ widths: [Int]) -> String {
    var line = ""
    for (position, cell) in cells.enumerated() {
      let text = Table.shortened(cell, to: widths[position])
      let blanks = String(repeating: " ", count: widths[position] - Table.width(of: text))
      if position > 0 { line += "  " }
      line += columns[shown[position]].isNumeric ? blanks + text : text + blanks
    }
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Shortens the widest of some columns until all fit; none gets narrower than 8.
  private static func fit(_ widths: inout [Int], _ some: [Int], into total: Int) {
    while widths.reduce(0, +) > total {
      guard let widest = some.max(by: { widths[$0] < widths[$1] }), widths[widest] > 8 else {
        return
      }
      widths[widest] -= 1
    }
  }

  private static func shortened(_ text: String, to width: Int) -> String {
    guard self.width(of: text) > width else { return text }
    var short = ""
    var used = 0
    for character in text {
      used += self.width(of: character)
      if used > width - 1 { break }
      short.append(character)
    }
    return short + "…"
  }

  private static func width(of text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + width(of: $1) }
  }

  /// The width of a character on a terminal: two columns for East Asian characters and most emoji.
  private static func width(of character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
  }
}

/// The terminal of standard output.
enum Terminal {
  /// The width in columns; `nil` if the output is not a terminal.
  static var width: Int? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
