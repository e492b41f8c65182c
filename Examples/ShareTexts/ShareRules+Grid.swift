/// Games that tell how it went in signs only.
extension ShareRule {
  static let gridRules: [ShareRule] = [connections, strands, framed, heardle]

  private static func numbered(
    _ game: Game, _ keyword: String, andWord word: String? = nil,
    read: @escaping @Sendable (ShareHead, inout ShareBody) throws(ShareFault) -> SharePuzzle
  ) -> ShareRule {
    ShareRule(
      game: game, keywords: [keyword],
      head: { cursor, _ in
        if let word {
          cursor.skipBlanks(lines: true)
          _ = cursor.take(word)
        }
        return cursor.puzzleNumber().map { ShareHead(puzzle: $0) }
      },
      read: read)
  }

  /// Connections: each guess is a row of four; a row of one colour is a group found.
  private static let connections = numbered(
    .connections, "Connections", andWord: "Puzzle"
  ) { (_, body) throws(ShareFault) in
    let rows = body.rows(of: ["🟨": "Y", "🟩": "G", "🟦": "B", "🟪": "P"], count: 4...4)
    guard !rows.isEmpty else { throw .missing("its rows of squares") }
    let found = Set(rows.filter { Set($0).count == 1 }.map { $0[0] }).count
    let mistakes = rows.count { Set($0).count > 1 }
    guard mistakes <= 4, rows.count <= 8 else { throw .impossible }
    guard found == 4 || mistakes == 4 else { throw .missing("some of its rows") }
    guard found < 4 || mistakes < 4 else { throw .impossible }
    return SharePuzzle(
      score: found == 4 ? rows.count : nil, completed: found == 4,
      data: ["grid": rows.text, "mistakes": String(mistakes)])
  }

  /// Strands: blue for a word, yellow for the spangram, a lamp for a hint.
  private static let strands = numbered(
    .strands, "Strands"
  ) { (_, body) throws(ShareFault) in
    let theme = body.quotation()
    let rows = body.rows(of: ["🔵": "B", "🟡": "S", "💡": "H"], count: 1...8)
    guard !rows.isEmpty else { throw .missing("its rows of circles") }
    let signs = rows.joined()
    var data = ["grid": rows.text, "words": String(signs.count { $0 != "H" })]
    data["theme"] = theme
    guard signs.contains("S") else { return SharePuzzle(score: nil, completed: false, data: data) }
    return SharePuzzle(score: signs.count { $0 == "H" }, completed: true, data: data)
  }

  /// Framed: one row; the place of the green square is the score.
  private static let framed = numbered(.framed, "Framed") { (_, body) throws(ShareFault) in
    try place(
      body.find(within: 2) { guesses(&$0, ["🟥": "R", "🟩": "G", "🟨": "R", "⬛": ".", "⬜": "."]) })
  }

  /// Heardle: the same; a black square is a guess passed over.
  private static let heardle = numbered(.heardle, "Heardle") { (_, body) throws(ShareFault) in
    try place(
      body.find(within: 2) { guesses(&$0, ["🟥": "R", "🟩": "G", "🟨": "R", "⬛": "S", "⬜": "."]) })
  }

  private static func guesses(
    _ cursor: inout ShareCursor, _ signs: [Unicode.Scalar: Character]
  ) -> [Character]? {
    var row: [Character] = []
    while let next = cursor.next, next == " " || signs[next] != nil {
      if let letter = signs[next] { row.append(letter) }
      cursor.index += 1
    }
    return row.isEmpty ? nil : row
  }

  private static func place(_ row: [Character]?) throws(ShareFault) -> SharePuzzle {
    guard let row else { throw .missing("its row of squares") }
    guard row.count <= 6 else { throw .impossible }
    let data = ["grid": String(row)]
    if let place = row.firstIndex(of: "G") {
      return SharePuzzle(score: place + 1, completed: true, data: data)
    }
    guard row.count == 6 else { throw .missing("a part of its row") }
    return SharePuzzle(score: nil, completed: false, data: data)
  }
}
