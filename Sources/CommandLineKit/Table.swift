/// A table of cells that fits the terminal.
///
/// On a terminal there is a line of titles, columns are padded, and long cells are truncated.
/// Otherwise every cell is printed in full, separated by two blanks, for other programs to read.
package struct Table: Sendable {
  /// The kind of a column.
  package enum Kind: Sendable {
    /// Words that are never truncated.
    case words
    /// A text, which is truncated if the line is too long.
    case text
    /// Right-aligned numbers.
    case number
    /// An ID, which a terminal shows as its shortest unique prefix in the table.
    case id
  }

  /// A column.
  package struct Column: Sendable {
    /// The title, shown on a terminal.
    package var title: String
    /// The kind of the column.
    package var kind: Kind
    /// Whether the column is omitted on a terminal that is too narrow.
    package var isDetail: Bool

    /// Creates a column.
    package init(_ title: String, _ kind: Kind = .words, isDetail: Bool = false) {
      self.title = title
      self.kind = kind
      self.isDetail = isDetail
    }
  }

  /// A cell; it can be written as a plain string.
  package struct Cell: Sendable, ExpressibleByStringInterpolation {
    /// The text; control characters are shown as blanks.
    package var text: String
    /// The style on a terminal with colors.
    package var style: Style

    /// Creates a cell with `text`.
    package init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }

    /// Creates a cell with `value`.
    package init(stringLiteral value: String) { self.init(value) }
  }

  /// The columns, from the left.
  package var columns: [Column]

  /// The rows; each has a cell for each column, and may lack some at its end.
  package var rows: [[Cell]]

  /// A table.
  package init(_ columns: [Column], _ rows: [[Cell]] = []) {
    self.columns = columns
    self.rows = rows
  }

  /// Adds a row with a text for each column.
  package mutating func add(_ texts: [String]) { rows.append(texts.map { Cell($0) }) }

  /// The minimum length of a shortened ID.
  private static let shortestID = 8

  /// The minimum width of a truncated text.
  private static let shortestText = 8

  /// The minimum width of texts before detail columns are omitted instead.
  private static let readableText = 16

  /// The lines of the table for `terminal`.
  package func lines(for terminal: Terminal) -> [String] {
    guard terminal.isTerminal else {
      return rows.map { row in
        row.map { terminal.styled(printable($0.text), $0.style) }.joined(separator: "  ")
      }
    }
    return padded(width: terminal.width, readable: Self.readableText, terminal.styled)
  }

  /// The text in padded columns with titles, also for other programs, and without styles.
  ///
  /// Columns without texts are omitted.
  package func plainText(width: Int?) -> String {
    var table = self
    for column in columns.indices.reversed()
    where !rows.contains(where: { $0.count > column && !$0[column].text.isEmpty }) {
      table.remove(column)
    }
    return table.padded(width: width, readable: Self.shortestText) { text, _ in text }
      .map { $0 + "\n" }.joined()
  }

  /// - Parameter readable: the minimum width of texts before detail columns are omitted instead.
  private func padded(
    width: Int?, readable: Int, _ styled: (String, Style) -> String
  ) -> [String] {
    let texts = rows.map { $0.map { printable($0.text) } }
    if let narrower = withoutDetail(width, texts, readable) {
      return narrower.padded(width: width, readable: readable, styled)
    }
    let shown = shortened(texts)
    let widths = widths(shown, width: width, shortest: Self.shortestText)
    func line(_ texts: [String], _ style: (Int) -> Style) -> String {
      var line = ""
      var gap = 0
      for (column, text) in texts.enumerated() {
        let cut = text.cut(to: widths[column])
        let space = max(0, widths[column] - cut.displayWidth)
        let isRight = columns[column].kind == .number
        line += String(repeating: " ", count: gap + (isRight ? space : 0))
        line += styled(cut, style(column))
        gap = 2 + (isRight ? 0 : space)
      }
      return line.hasSuffix(" ") ? String(line.trimmedEnd) : line
    }
    return [line(columns.map(\.title)) { _ in .dim }]
      + zip(rows, shown).map { row, texts in line(texts) { row[$0].style } }
  }

  /// The texts with shortened IDs.
  private func shortened(_ texts: [[String]]) -> [[String]] {
    var texts = texts
    for column in columns.indices where columns[column].kind == .id {
      let ids = texts.compactMap { $0.count > column ? $0[column] : nil }
      let longest = ids.map(\.count).max() ?? 0
      var length = Self.shortestID
      while length < longest, Set(ids.map { $0.prefix(length) }).count < Set(ids).count {
        length += 1
      }
      for row in texts.indices where texts[row].count > column {
        texts[row][column] = String(texts[row][column].prefix(length))
      }
    }
    return texts
  }

  /// The table without its last detail column, if it does not fit otherwise.
  private func withoutDetail(_ width: Int?, _ texts: [[String]], _ readable: Int) -> Table? {
    guard let width, let detail = columns.lastIndex(where: \.isDetail) else { return nil }
    let widths = widths(shortened(texts), width: width, shortest: readable)
    guard Self.lineWidth(widths) > width else { return nil }
    var narrower = self
    narrower.remove(detail)
    return narrower
  }

  private mutating func remove(_ column: Int) {
    columns.remove(at: column)
    for row in rows.indices where rows[row].count > column { rows[row].remove(at: column) }
  }

  private static func lineWidth(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + 2 * max(0, widths.count - 1)
  }

  private func widths(_ texts: [[String]], width: Int?, shortest: Int) -> [Int] {
    var widths = columns.map(\.title.displayWidth)
    for row in texts {
      for (column, text) in row.enumerated() {
        widths[column] = max(widths[column], text.displayWidth)
      }
    }
    guard let width else { return widths }
    var excess = Self.lineWidth(widths) - width
    // The widest text is truncated first, so that short ones stay complete.
    while excess > 0 {
      let texts = columns.indices.filter {
        columns[$0].kind == .text && widths[$0] > shortest
      }
      guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }
}

extension String {
  /// The text without trailing blanks.
  fileprivate var trimmedEnd: Substring {
    self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)]
  }
}
