/// Games that share a sentence or a few words.
extension ShareRule {
  static let sentenceRules: [ShareRule] = [spellingBee, globle, contexto]

  /// Spelling Bee: a rank and points, on the same line or the next ones.
  private static let spellingBee = ShareRule(
    game: .spellingBee, keywords: ["Spelling Bee"], isSentence: true,
    head: { cursor, line in
      var head = ShareHead()
      var walk = line
      head.day = walk.find(anyDay)
      var rest = line
      head.data["rank"] = rest.find(rank)
      // Without a day, a rank or points close by, somebody only talks about the game.
      var ahead = cursor.ahead(lines: 4)
      guard head.day != nil || head.data["rank"] != nil || ahead.find(points) != nil else {
        return nil
      }
      var pointsBefore = line
      if let points = pointsBefore.find(points) { head.data["points"] = String(points) }
      return head
    },
    read: { (head, body) throws(ShareFault) in
      var data = head.data
      if let rank = body.find(within: 6, rank) { data["rank"] = data["rank"] ?? rank }
      if let words = body.find(within: 6, words) { data["words"] = String(words) }
      let score = body.find(within: 6, points) ?? data["points"].flatMap { Int($0) }
      guard let rank = data["rank"] else { throw .missing("the rank") }
      guard let score else { throw .missing("the points") }
      data["points"] = nil
      return SharePuzzle(
        score: score, completed: rank == "Genius" || rank == "Queen Bee", data: data)
    })

  private static func anyDay(_ cursor: inout ShareCursor) -> PuzzleDay? {
    cursor.day() ?? cursor.namedDay()
  }

  private static func rank(_ cursor: inout ShareCursor) -> String? {
    let ranks = [
      "Queen Bee", "Genius", "Amazing", "Great", "Nice", "Solid", "Good Start", "Good",
      "Moving Up", "Beginner",
    ]
    return ranks.first { cursor.take($0) }
  }

  private static func points(_ cursor: inout ShareCursor) -> Int? {
    labelled("score:", &cursor)
      ?? cursor.attempt { cursor in
        guard let points = cursor.number() else { return nil }
        cursor.skipBlanks()
        if cursor.take("/"), cursor.number() != nil { cursor.skipBlanks() }
        return cursor.take("points") || cursor.take("pts") ? points : nil
      }
  }

  private static func words(_ cursor: inout ShareCursor) -> Int? {
    labelled("words:", &cursor) ?? count(&cursor, ["words"])
  }

  /// A number behind its label.
  static func labelled(_ label: String, _ cursor: inout ShareCursor) -> Int? {
    cursor.attempt { cursor in
      guard cursor.take(label) else { return nil }
      cursor.skipBlanks()
      return cursor.number()
    }
  }

  /// Globle: a globe and a day, and `= 7` for the guesses.
  private static let globle = ShareRule(
    game: .globle, keywords: ["🌍", "🌎", "🌏"],
    head: { cursor, _ in
      cursor.skipBlanks()
      return cursor.namedDay().map { ShareHead(day: $0) }
    },
    read: { (_, body) throws(ShareFault) in
      let guesses = body.find(within: 6) { labelled("=", &$0) }
      guard let guesses else { throw .missing("the number of guesses") }
      guard guesses > 0 else { throw .impossible }
      return SharePuzzle(score: guesses, completed: true)
    })

  /// Contexto: "I played contexto.me #1234 and got it in 57 guesses".
  private static let contexto = ShareRule(
    game: .contexto, keywords: ["contexto.me", "Contexto"], isSentence: true,
    head: { cursor, _ in cursor.puzzleNumber().map { ShareHead(puzzle: $0) } },
    read: { (_, body) throws(ShareFault) in
      let gaveUp = body.find(within: 2) { $0.take("gave up") ? true : nil }
      let guesses = body.find(within: 2) { count(&$0, ["guesses", "guess"]) }
      let hints = body.find(within: 2) { count(&$0, ["hints", "hint", "tips", "tip"]) }
      var data: [String: String] = [:]
      if let hints { data["hints"] = String(hints) }
      if let guesses { data["guesses"] = String(guesses) }
      if gaveUp == true { return SharePuzzle(score: nil, completed: false, data: data) }
      guard let guesses else { throw .missing("the number of guesses") }
      guard guesses > 0 else { throw .impossible }
      return SharePuzzle(score: guesses, completed: true, data: data)
    })

  private static func count(_ cursor: inout ShareCursor, _ nouns: [String]) -> Int? {
    cursor.attempt { cursor in
      guard let number = cursor.number() else { return nil }
      cursor.skipBlanks()
      return nouns.contains { cursor.take($0) } ? number : nil
    }
  }
}
