extension ShareRule {
  /// Every game's rule.
  static let all: [ShareRule] = [
    outcome(.wordle, "Wordle", squares: 5...5),
    outcome(.nerdle, "nerdlegame|Nerdle", squares: 5...8),
    outcome(.worldle, "Worldle", squares: 1...5),
    outcome(.tradle, "Tradle", squares: 1...5),
    outcome(.bandle, "Bandle", squares: 1...6),
    outcome(.waffle, "waffle", squares: 3...5),
    connections, strands,
    row(.framed, "Framed", ["🟥": "R", "🟩": "G", "🟨": "R", "⬛": ".", "⬜": "."]),
    // A black square is a guess that was passed over.
    row(.heardle, "Heardle", ["🟥": "R", "🟩": "G", "🟨": "R", "⬛": "S", "⬜": "."]),
    clocks(.quordle, "Quordle", words: 4),
    clocks(.octordle, "Octordle", words: 8),
    dordle, spellingBee, globle, contexto, miniCrossword,
    timed(.queens, "Queens"), timed(.tango, "Tango"), timed(.zip, "Zip"),
  ]

  // MARK: Games whose first line tells all

  /// Squares in a few colors: solved, near, not.
  ///
  /// The color-blind mode's orange and blue stand for green and yellow.
  private static let squares = ShareSigns([
    "🟩": "G", "🟢": "G", "🟧": "G", "🟨": "Y", "🟡": "Y", "🟦": "Y", "🟪": "Y", "🟥": "R",
    "⬛": ".", "⬜": ".", "⚫": ".", "⚪": ".", "🟫": ".",
  ])

  /// Name, number, and an outcome such as `4/6`; the number may have a day behind it.
  private static func outcome(
    _ game: Game, _ name: String, squares count: ClosedRange<Int>
  ) -> ShareRule {
    let rest = """
      \(SharePattern.puzzle)(?: *\\((?<day>\(SharePattern.numericDay))\\))?\
      \(SharePattern.blankLines)\(SharePattern.outcome)\
      (?<hard>\\*)?(?: *\\((?<percent>100|[0-9]{1,2})%\\))?
      """
    return ShareRule(game, name, rest) { (head, body) throws(ShareTextError) in
      var data: [String: String] = [:]
      if head["hard"] != nil { data["hardMode"] = "true" }
      data["percent"] = head.number("percent").map { String($0) }
      let rows = body.rows(of: squares, count: count)
      if !rows.isEmpty { data["grid"] = rows.joined(separator: "\n") }
      let least = game.scoring == .points ? 0 : 1
      let used = head.number("used")
      guard head.number("limit") == game.maxAttempts,
        (least...game.maxAttempts).contains(used ?? least)
      else { throw head.impossible }
      return SharePuzzle(score: used, completed: used != nil, data: data)
    }
  }

  // MARK: Games that tell how it went in signs only

  private static let groups = ShareSigns(["🟨": "Y", "🟩": "G", "🟦": "B", "🟪": "P"])

  /// Connections: each guess is a row of four; a row of one color is a group found.
  private static let connections = ShareRule(
    .connections, "Connections", "\(SharePattern.blankLines)(?:Puzzle)?\(SharePattern.puzzle)"
  ) { (head, body) throws(ShareTextError) in
    let rows = body.rows(of: groups, count: 4...4)
    guard !rows.isEmpty else { throw head.lacks("its rows of squares") }
    let found = Set(rows.filter { Set($0).count == 1 }).count
    let mistakes = rows.count { Set($0).count > 1 }
    let isSolved = found == 4
    guard rows.count <= 8, mistakes <= (isSolved ? 3 : 4) else { throw head.impossible }
    guard isSolved || mistakes == 4 else { throw head.lacks("some of its rows") }
    return SharePuzzle(
      score: isSolved ? rows.count : nil, completed: isSolved,
      data: ["grid": rows.joined(separator: "\n"), "mistakes": String(mistakes)])
  }

  private static let circles = ShareSigns(["🔵": "B", "🟡": "S", "💡": "H"])
  private static let quotation = SharePattern("[\"“”„«»](.{1,199})[\"“”„«»]")

  /// Strands: blue for a word, yellow for the spangram, a lamp for a hint.
  private static let strands = ShareRule(
    .strands, "Strands", SharePattern.puzzle
  ) { (head, body) throws(ShareTextError) in
    let theme = body.first(quotation, within: 4)
    let rows = body.rows(of: circles, count: 1...8)
    guard !rows.isEmpty else { throw head.lacks("its rows of circles") }
    let signs = rows.joined()
    let hints = signs.count { $0 == "H" }
    var data = ["grid": rows.joined(separator: "\n"), "words": String(signs.count - hints)]
    data["theme"] = theme?.value
    let isSolved = signs.contains("S")
    return SharePuzzle(score: isSolved ? hints : nil, completed: isSolved, data: data)
  }

  /// One row; the place of the green square is the score.
  private static func row(
    _ game: Game, _ name: String, _ letters: [Unicode.Scalar: Character]
  ) -> ShareRule {
    let signs = ShareSigns(letters)
    return ShareRule(game, name, SharePattern.puzzle) { (head, body) throws(ShareTextError) in
      guard let row = body.first(signs.run, within: 2).map(signs.letters(of:)) else {
        throw head.lacks("its row of squares")
      }
      guard row.count <= game.maxAttempts else { throw head.impossible }
      let score = row.firstIndex(of: "G").map { row.distance(from: row.startIndex, to: $0) + 1 }
      guard score != nil || row.count == game.maxAttempts else {
        throw head.lacks("a part of its row")
      }
      return SharePuzzle(score: score, completed: score != nil, data: ["grid": row])
    }
  }

  // MARK: Games with several words at once

  private static let clock = SharePattern("(?<![0-9])([1-9])\\u20e3|[🔟🕙🕚🕛🕐🟥❌]")
  private static let clockHours = ["🔟": 10, "🕙": 10, "🕚": 11, "🕛": 12, "🕐": 13]
  private static let score = SharePattern("score: *(\(SharePattern.number))")

  /// For each word a digit in a box, a clock for 10 to 13, or a red square.
  private static func clocks(_ game: Game, _ name: String, words: Int) -> ShareRule {
    ShareRule(game, name, SharePattern.puzzle) { (head, body) throws(ShareTextError) in
      let clocks = body.matches(of: clock, limit: words).map(\.value)
      guard clocks.count == words else { throw head.lacks("the numbers of its \(words) words") }
      let points = body.first(score, within: words + 4)
      return try puzzle(
        head, game, clocks.map { clockHours[$0] ?? Int($0) ?? 0 },
        points: points.flatMap { Int($0.value) })
    }
  }

  /// Dordle: both words in the head, as `4&6/7`.
  private static let dordle = ShareRule(
    .dordle, "Dordle", "\(SharePattern.puzzle) *(?:(?<first>[0-9]{1,9}+)|x)&\(SharePattern.outcome)"
  ) { (head, _) throws(ShareTextError) in
    guard head.number("limit") == Game.dordle.maxAttempts else { throw head.impossible }
    return try puzzle(
      head, .dordle, [head.number("first") ?? 0, head.number("used") ?? 0], points: nil)
  }

  /// The last word found is the score; a word not found makes it a failure.
  private static func puzzle(
    _ head: ShareHead, _ game: Game, _ words: [Int], points: Int?
  ) throws(ShareTextError) -> SharePuzzle {
    guard words.allSatisfy({ $0 <= game.maxAttempts }) else { throw head.impossible }
    var data = ["words": words.map { $0 == 0 ? "X" : String($0) }.joined(separator: ",")]
    data["points"] = points.map { String($0) }
    let isSolved = !words.contains(0)
    return SharePuzzle(score: isSolved ? words.max() : nil, completed: isSolved, data: data)
  }
}
