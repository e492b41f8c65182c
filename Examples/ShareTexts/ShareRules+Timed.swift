/// Games for time.
extension ShareRule {
  static let timedRules: [ShareRule] = [
    miniCrossword, timed(.queens, "Queens"), timed(.tango, "Tango"), timed(.zip, "Zip"),
  ]

  /// The Mini Crossword: a sentence with a time, mostly with a day.
  private static let miniCrossword = ShareRule(
    game: .miniCrossword, keywords: ["Mini Crossword", "NYT Mini", "The Mini"], isSentence: true,
    head: { cursor, line in
      var head = ShareHead()
      // "NYT Mini Crossword" is one name, not the beginning of two results.
      cursor.skipBlanks()
      _ = cursor.take("Crossword")
      var walk = line
      head.day = walk.find { $0.day() ?? $0.namedDay() }
      // Without a day or a time close by, somebody only talks about the game.
      var ahead = cursor.ahead(lines: 2)
      guard head.day != nil || ahead.find({ $0.duration() }) != nil else { return nil }
      return head
    },
    read: { (_, body) throws(ShareFault) in
      guard let seconds = body.find(within: 3, { $0.duration() }) else {
        throw .missing("the time")
      }
      return SharePuzzle(score: seconds, completed: true)
    })

  /// A number and a time: `Queens #123 | 0:45`, or the time on the next line.
  private static func timed(_ game: Game, _ keyword: String) -> ShareRule {
    ShareRule(
      game: game, keywords: [keyword],
      head: { cursor, _ in
        let start = cursor
        cursor.skipBlanks()
        // Everyday words: only with the number sign they are a game.
        guard cursor.next == "#" else { return nil }
        cursor = start
        return cursor.puzzleNumber().map { ShareHead(puzzle: $0) }
      },
      read: { (_, body) throws(ShareFault) in
        guard let seconds = body.find(within: 2, { $0.duration() }) else {
          throw .missing("the time")
        }
        var data: [String: String] = [:]
        if body.find(within: 2, { $0.take("flawless") ? true : nil }) == true {
          data["flawless"] = "true"
        }
        return SharePuzzle(score: seconds, completed: true, data: data)
      })
  }
}
