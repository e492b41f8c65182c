import CommandLineKit

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
      rows.reduce(columns[index].title.count) { max($0, $1[index].displayWidth) }
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
      let text = cell.cut(to: widths[position])
      let blanks = String(repeating: " ", count: widths[position] - text.displayWidth)
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
}
