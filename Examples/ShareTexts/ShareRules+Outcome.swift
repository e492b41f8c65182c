/// Games whose first line tells all: name, number, and an outcome such as `4/6`.
extension ShareRule {
  static let outcomeRules: [ShareRule] = [
    outcome(.wordle, ["Wordle"], squares: 5...5),
    outcome(.nerdle, ["nerdlegame", "Nerdle"], squares: 5...8),
    outcome(.worldle, ["Worldle"], squares: 1...5),
    outcome(.tradle, ["Tradle"], squares: 1...5),
    outcome(.bandle, ["Bandle"], squares: 1...6),
    outcome(.waffle, ["waffle"], squares: 3...5),
  ]

  /// Squares in a few colours: solved, near, not.
  ///
  /// The colour-blind mode's orange and blue stand
  /// for green and yellow.
  private static let squares: [Unicode.Scalar: Character] = [
    "🟩": "G", "🟢": "G", "🟧": "G", "🟨": "Y", "🟡": "Y", "🟦": "Y", "🟪": "Y", "🟥": "R",
    "⬛": ".", "⬜": ".", "⚫": ".", "⚪": ".", "🟫": ".",
  ]

  private static func outcome(
    _ game: Game, _ keywords: [String], squares count: ClosedRange<Int>
  ) -> ShareRule {
    ShareRule(
      game: game, keywords: keywords,
      head: { cursor, _ in
        guard let puzzle = cursor.puzzleNumber() else { return nil }
        var head = ShareHead(puzzle: puzzle)
        head.day = cursor.attempt { cursor in
          cursor.skipBlanks()
          guard cursor.take("("), let day = cursor.day(), cursor.take(")") else { return nil }
          return day
        }
        cursor.skipBlanks(lines: true)
        guard let outcome = cursor.outcome() else { return nil }
        head.outcome = outcome
        if cursor.take("*") { head.data["hardMode"] = "true" }
        head.data["percent"] = cursor.attempt(percent).map { String($0) }
        return head
      },
      read: { (head, body) throws(ShareFault) in
        guard let outcome = head.outcome else { throw .missing("the score") }
        var data = head.data
        let rows = body.rows(of: squares, count: count)
        if !rows.isEmpty { data["grid"] = rows.text }
        return try outcome.puzzle(game, data)
      })
  }

  private static func percent(_ cursor: inout ShareCursor) -> Int? {
    cursor.skipBlanks()
    guard cursor.take("("), let percent = cursor.number(), percent <= 100, cursor.take("%"),
      cursor.take(")")
    else { return nil }
    return percent
  }
}
