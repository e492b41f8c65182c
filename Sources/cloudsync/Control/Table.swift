import CommandLineKit

/// Rows of text in columns that fit the terminal.
struct Table {
  /// A column.
  struct Column {
    var title: String
    /// Whether the column contains numbers, which are right-aligned.
    var isNumeric = false
    /// Whether the column tells the rows apart, or is as short as can be: it is shown in full.
    var isWhole = true
    /// Whether the column is omitted if the terminal is too narrow for all.
    var isDetail = false
  }

  /// The minimum width of a shortened column.
  private static let shortest = 8

  let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row with a text for each column.
  mutating func add(_ row: [String]) { rows.append(row.map { printable($0) }) }

  /// The lines, each ended by a line feed.
  ///
  /// Empty columns are omitted. A line is longer than the terminal only if the columns that tell
  /// rows apart need it.
  /// - Parameter width: The width of the terminal, to which the widest columns are shortened; `nil`
  ///   for no limit.
  func text(width: Int?) -> String {
    var shown = columns.indices.filter { index in rows.contains { !$0[index].isEmpty } }
    let whole = columns.indices.map { index in
      rows.reduce(columns[index].title.count) { max($0, $1[index].displayWidth) }
    }
    func needed() -> Int {
      let widths = shown.map { columns[$0].isWhole ? whole[$0] : min(whole[$0], Table.shortest) }
      return widths.reduce(0, +) + 2 * max(0, shown.count - 1)
    }
    while let width, needed() > width,
      let detail = shown.lastIndex(where: { columns[$0].isDetail })
    {
      shown.remove(at: detail)
    }
    var widths = shown.map { whole[$0] }
    if let width {
      let yielding = widths.indices.filter { !columns[shown[$0]].isWhole }
      Table.fit(&widths, yielding, into: width - 2 * max(0, shown.count - 1))
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

  /// Shortens the widest of some columns until all fit, or none may get narrower.
  private static func fit(_ widths: inout [Int], _ some: [Int], into total: Int) {
    while widths.reduce(0, +) > total {
      guard let widest = some.max(by: { widths[$0] < widths[$1] }), widths[widest] > shortest
      else {
        return
      }
      widths[widest] -= 1
    }
  }
}
