/// Games with several words at once, which tell for each word when it was found.
extension ShareRule {
  static let manyWordRules: [ShareRule] = [
    clocks(.quordle, "Quordle", words: 4), clocks(.octordle, "Octordle", words: 8), dordle,
  ]

  /// A digit in a box, a clock for 10 to 13, or a red square.
  private static func clock(_ cursor: inout ShareCursor) -> Int? {
    let signs: [Unicode.Scalar: Int] = [
      "🔟": 10, "🕙": 10, "🕚": 11, "🕛": 12, "🕐": 13, "🟥": 0, "❌": 0,
    ]
    guard let next = cursor.next else { return nil }
    cursor.index += 1
    if let value = signs[next] { return value }
    guard let digit = next.digit, digit > 0, cursor.next?.value == 0x20e3 else { return nil }
    cursor.index += 1
    return digit
  }

  private static func clocks(_ game: Game, _ keyword: String, words: Int) -> ShareRule {
    ShareRule(
      game: game, keywords: [keyword],
      head: { cursor, _ in cursor.puzzleNumber().map { ShareHead(puzzle: $0) } },
      read: { (_, body) throws(ShareFault) in
        let clocks = body.tokens(words, clock)
        guard clocks.count == words else { throw .missing("the numbers of its \(words) words") }
        let points = body.find(within: words + 4) { labelled("score:", &$0) }
        return try puzzle(game, clocks, points: points)
      })
  }

  /// Dordle: both words in the head, as `4&6/7`.
  private static let dordle = ShareRule(
    game: .dordle, keywords: ["Dordle"],
    head: { cursor, _ in
      guard let puzzle = cursor.puzzleNumber() else { return nil }
      cursor.skipBlanks()
      let first = cursor.number()
      guard first != nil || cursor.take("x"), cursor.take("&") else { return nil }
      guard let second = cursor.outcome() else { return nil }
      return ShareHead(
        puzzle: puzzle, outcome: second, data: ["first": first.map { String($0) } ?? "X"])
    },
    read: { (head, _) throws(ShareFault) in
      guard let outcome = head.outcome, let first = head.data["first"] else {
        throw .missing("the score")
      }
      guard outcome.limit == Game.dordle.maxAttempts else { throw .impossible }
      return try puzzle(.dordle, [Int(first) ?? 0, outcome.used ?? 0], points: nil)
    })

  /// The last word found is the score; a word not found makes it a failure.
  private static func puzzle(
    _ game: Game, _ clocks: [Int], points: Int?
  ) throws(ShareFault) -> SharePuzzle {
    guard clocks.allSatisfy({ $0 <= game.maxAttempts }) else { throw .impossible }
    var data = ["words": clocks.map { $0 == 0 ? "X" : String($0) }.joined(separator: ",")]
    if let points { data["points"] = String(points) }
    let isSolved = !clocks.contains(0)
    return SharePuzzle(score: isSolved ? clocks.max() : nil, completed: isSolved, data: data)
  }
}
