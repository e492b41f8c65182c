import Foundation

/// Games that share a sentence, a few words or a time.
extension ShareRule {
  private static let rank = SharePattern(
    """
    (Queen +Bee|Genius|Amazing|Great|Nice|Solid|Good +Start|Good|Moving +Up|Beginner)(?![a-z])
    """)
  private static let points = SharePattern(
    """
    score: *(\(SharePattern.number))\
    |(\(SharePattern.number)) *(?:/[0-9]{1,9}+ *)?(?:points|pts)(?![a-z])
    """)
  private static let words = SharePattern("words: *(\(SharePattern.number))|\(count("words"))")

  /// Spelling Bee: a rank and points, on the same line or the next ones.
  static let spellingBee = ShareRule(
    .spellingBee, "Spelling +Bee", "", isSentence: true,
    // Without a day, a rank or points close by, the text only mentions the game.
    isResult: { head in
      head.day != nil || head.first(rank) != nil || head.first(points, ahead: 4) != nil
    },
    read: { (head, body) throws(ShareTextError) in
      let rankAfter = body.first(rank, within: 6)
      var data: [String: String] = [:]
      data["words"] = body.first(words, within: 6)?.value
      let score = (body.first(points, within: 6) ?? head.first(points)).flatMap { Int($0.value) }
      guard let rank = head.first(rank) ?? rankAfter else { throw head.lacks("the rank") }
      guard let score else { throw head.lacks("the points") }
      let name = rank.value.split(separator: " ").map(\.capitalized)
        .joined(separator: " ")
      data["rank"] = name
      return SharePuzzle(
        score: score, completed: name == "Genius" || name == "Queen Bee", data: data)
    })

  private static let equals = SharePattern("= *(\(SharePattern.number))")

  /// Globle: a globe and a day, and `= 7` for the guesses.
  static let globle = ShareRule(
    .globle, "[🌍🌎🌏]", " *(?<day>\(SharePattern.namedDay))"
  ) { (head, body) throws(ShareTextError) in
    try guessed(head, body.first(equals, within: 6))
  }

  private static let guesses = SharePattern(count("guesses|guess"))
  private static let hints = SharePattern(count("hints|hint|tips|tip"))
  private static let surrender = SharePattern("gave +up(?![a-z])")

  /// Contexto: "I played contexto.me #1234 and got it in 57 guesses".
  static let contexto = ShareRule(
    .contexto, #"contexto(?:\.me)?"#, SharePattern.puzzle, isSentence: true
  ) { (head, body) throws(ShareTextError) in
    let gaveUp = body.first(surrender, within: 2) != nil
    let guesses = body.first(guesses, within: 2)
    var data: [String: String] = [:]
    data["hints"] = body.first(hints, within: 2)?.value
    data["guesses"] = guesses?.value
    if gaveUp { return SharePuzzle(score: nil, completed: false, data: data) }
    return try guessed(head, guesses, data)
  }

  private static func guessed(
    _ head: ShareHead, _ match: ShareMatch?, _ data: [String: String] = [:]
  ) throws(ShareTextError) -> SharePuzzle {
    guard let guesses = match.flatMap({ Int($0.value) }) else {
      throw head.lacks("the number of guesses")
    }
    guard guesses > 0 else { throw head.impossible }
    return SharePuzzle(score: guesses, completed: true, data: data)
  }

  /// The pattern for a number of things.
  private static func count(_ nouns: String) -> String {
    "(\(SharePattern.number)) *(?:\(nouns))(?![a-z])"
  }

  // MARK: Games for time

  /// A time such as `0:47` or `1:02:03`; not that of a message, as in `[11/3/2026, 9:41] Ann:` and
  /// `03.11.26, 9:41 - Ann:`.
  private static let time = SharePattern(
    #"""
    (?<![0-9])(?<![0-9][./][0-9]{2,4}, {1,2})[0-9]{1,4}(?::[0-5][0-9]){1,2}(?![0-9:])\#
    (?![^\[\n]{0,20}\])
    """#)
  private static let flawless = SharePattern("flawless(?![a-z])")

  private static func seconds(
    _ head: ShareHead, _ body: inout ShareBody, within lines: Int
  ) throws(ShareTextError) -> Int {
    guard let time = body.first(time, within: lines) else { throw head.lacks("the time") }
    return time.value.split(separator: ":").reduce(0) { $0 * 60 + (Int($1) ?? 0) }
  }

  /// The Mini Crossword: a sentence with a time, mostly with a day.
  ///
  /// "NYT Mini Crossword" is one name, not the beginning of two results.
  static let miniCrossword = ShareRule(
    .miniCrossword, "Mini +Crossword|NYT +Mini|The +Mini", "(?: *Crossword(?![a-z]))?",
    isSentence: true,
    // Without a day or a time close by, the text only mentions the game.
    isResult: { $0.day != nil || $0.first(time, ahead: 2) != nil },
    read: { (head, body) throws(ShareTextError) in
      SharePuzzle(score: try seconds(head, &body, within: 3), completed: true)
    })

  /// A number and a time: `Queens #123 | 0:45`, or the time on the next line.
  ///
  /// The names are everyday words: only with the number sign they are a game.
  static func timed(_ game: Game, _ name: String) -> ShareRule {
    ShareRule(game, name, "(?= *#)\(SharePattern.puzzle)") { (head, body) throws(ShareTextError) in
      let seconds = try seconds(head, &body, within: 2)
      let isFlawless = body.first(flawless, within: 2) != nil
      return SharePuzzle(
        score: seconds, completed: true, data: isFlawless ? ["flawless": "true"] : [:])
    }
  }
}
