/// The lines that belong to one result, from behind its head to the next result.
struct ShareBody: Sendable {
  /// The most lines that are looked at: no game shares more.
  private static let mostLines = 40

  private let text: [Unicode.Scalar]
  private let lines: [Range<Int>]

  /// How far the result reaches in the text: up to the last thing that was understood.
  private(set) var usedEnd: Int

  /// The lines of a part of `text`; the first one is the rest of the head's line.
  init(_ text: [Unicode.Scalar], _ range: Range<Int>) {
    self.text = text
    usedEnd = range.lowerBound
    var lines: [Range<Int>] = []
    var start = range.lowerBound
    for index in range where text[index] == "\n" && lines.count < Self.mostLines {
      lines.append(start..<index)
      start = index + 1
    }
    if lines.count < Self.mostLines { lines.append(start..<range.upperBound) }
    self.lines = lines
  }

  /// The first thing `read` finds in one of the first `count` lines that are not blank.
  mutating func find<Found>(
    within count: Int, _ read: (inout ShareCursor) -> Found?
  ) -> Found? {
    for line in lines.filter({ !isBlank($0) }).prefix(count) {
      var cursor = ShareCursor(text, line)
      if let found = cursor.find(read) {
        usedEnd = max(usedEnd, cursor.index)
        return found
      }
    }
    return nil
  }

  /// The first run of lines that begin with at least `minimum` of the given signs; blank lines
  /// inside the run don't end it.
  ///
  /// - Parameters:
  ///   - signs: which scalars count, and the letter each stands for.
  ///   - count: how many signs a line must begin with to belong to the run.
  /// - Returns: the letters of each line.
  mutating func rows(
    of signs: [Unicode.Scalar: Character], count: ClosedRange<Int>
  ) -> [[Character]] {
    var rows: [[Character]] = []
    for line in lines where !isBlank(line) {
      var row: [Character] = []
      var end = line.lowerBound
      for index in line {
        if text[index] == " " || text[index] == ">" { continue }
        guard let letter = signs[text[index]] else { break }
        row.append(letter)
        end = index + 1
      }
      if count.contains(row.count) {
        rows.append(row)
        usedEnd = max(usedEnd, end)
      } else if !rows.isEmpty {
        break
      }
    }
    return rows
  }

  /// The first `count` tokens `read` finds, over as many lines as needed.
  mutating func tokens<Token>(
    _ count: Int, _ read: (inout ShareCursor) -> Token?
  ) -> [Token] {
    var tokens: [Token] = []
    for line in lines {
      var cursor = ShareCursor(text, line)
      while tokens.count < count, let token = cursor.find(read) {
        tokens.append(token)
        usedEnd = max(usedEnd, cursor.index)
      }
    }
    return tokens
  }

  /// The text between the first pair of double quotation marks of the first lines.
  mutating func quotation() -> String? {
    let marks: Set<Unicode.Scalar> = ["\"", "“", "”", "„", "«", "»"]
    for line in lines.prefix(4) {
      guard let open = line.first(where: { marks.contains(text[$0]) }),
        let close = line.last(where: { marks.contains(text[$0]) }), close > open + 1,
        close - open <= 200
      else { continue }
      usedEnd = max(usedEnd, close + 1)
      var view = String.UnicodeScalarView()
      view.append(contentsOf: text[(open + 1)..<close])
      return String(view)
    }
    return nil
  }

  private func isBlank(_ line: Range<Int>) -> Bool {
    line.allSatisfy { text[$0] == " " || text[$0] == ">" }
  }
}
