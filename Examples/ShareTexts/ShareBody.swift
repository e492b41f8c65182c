/// The lines that belong to one result, from behind its head to the next result.
struct ShareBody: Sendable {
  /// The most lines that are looked at: no game shares more.
  private static let mostLines = 40

  private let text: ShareText
  /// The lines that are not blank, without the blanks and marks of quoted lines before them; the
  /// first one may be the rest of the head's line.
  private let lines: [Range<Int>]
  /// How far the result reaches in the text: up to the last thing that was understood.
  private(set) var usedEnd: Int

  /// The lines of a part of `text`.
  init(_ text: ShareText, _ range: Range<Int>) {
    self.text = text
    usedEnd = range.lowerBound
    lines = text.units[range]
      .split(separator: 0x0a, maxSplits: Self.mostLines, omittingEmptySubsequences: false)
      .prefix(Self.mostLines).map { $0.drop { $0 == 0x20 || $0 == 0x3e }.indices }
      .filter { !$0.isEmpty }
  }

  /// The first match of a pattern in the first `count` lines that are not blank.
  mutating func first(_ pattern: SharePattern, within count: Int) -> ShareMatch? {
    matches(of: pattern, within: count, limit: 1).first
  }

  /// The first `limit` matches of a pattern in the first `count` lines that are not blank.
  mutating func matches(
    of pattern: SharePattern, within count: Int = mostLines, limit: Int
  ) -> [ShareMatch] {
    guard let first = lines.first, let last = lines.prefix(count).last else { return [] }
    let matches = pattern.matches(in: text, first.lowerBound..<last.upperBound).prefix(limit)
    for match in matches { usedEnd = max(usedEnd, match.range.upperBound) }
    return Array(matches)
  }

  /// The letters of the first run of lines that begin with signs.
  ///
  /// - Parameter count: the number of signs with which a line of the run begins.
  mutating func rows(of signs: ShareSigns, count: ClosedRange<Int>) -> [String] {
    var rows: [String] = []
    for line in lines {
      let match = signs.run.matches(in: text, line).first
      let row = match.map(signs.letters(of:)) ?? ""
      if let match, match.range.lowerBound == line.lowerBound, count.contains(row.count) {
        rows.append(row)
        usedEnd = max(usedEnd, match.range.upperBound)
      } else if !rows.isEmpty {
        break
      }
    }
    return rows
  }
}

/// The signs of a grid, such as squares, and the letter that each stands for.
struct ShareSigns: Sendable {
  private let letters: [Unicode.Scalar: Character]
  /// Signs, with or without blanks between them.
  let run: SharePattern

  init(_ letters: [Unicode.Scalar: Character]) {
    self.letters = letters
    let signs = String(String.UnicodeScalarView(letters.keys))
    run = SharePattern("[\(signs)](?:[ >]*[\(signs)])*")
  }

  /// The letters of the signs in a match.
  func letters(of match: ShareMatch) -> String {
    String(match.value.unicodeScalars.compactMap { letters[$0] })
  }
}
