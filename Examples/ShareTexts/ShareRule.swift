/// How one game's share text is read: a pattern for its head, and a function for the rest.
struct ShareRule: Sendable {
  let game: Game
  /// A pattern for the name that a result begins with.
  let name: String
  /// The head of a result: the words before the name that belong to it, the name, and what follows
  /// up to the number or the outcome.
  let head: SharePattern
  /// Whether the game's name comes late in a sentence, so that the result begins with its line.
  let isSentence: Bool
  /// Whether a head begins a result; without more around it, the name may be mere talk.
  let isResult: @Sendable (ShareHead) -> Bool
  /// Reads the result itself.
  let read: @Sendable (ShareHead, inout ShareBody) throws(ShareTextError) -> SharePuzzle

  /// Describes a game.
  ///
  /// - Parameters:
  ///   - name: a pattern for the name.
  ///   - rest: a pattern for what follows the name.
  init(
    _ game: Game, _ name: String, _ rest: String, isSentence: Bool = false,
    isResult: @escaping @Sendable (ShareHead) -> Bool = { _ in true },
    read: @escaping @Sendable (ShareHead, inout ShareBody) throws(ShareTextError) -> SharePuzzle
  ) {
    self.game = game
    self.name = "(?:\(name))\(SharePattern.noLetters)"
    head = SharePattern("^\(Self.words)\(self.name)\(rest)")
    self.isSentence = isSentence
    self.isResult = isResult
    self.read = read
  }

  /// The words before a game's name that belong to it; most make it another series of puzzles.
  private static let words = """
    (?:(?<![a-z])(?:(?<variant>mini|micro|sequence|rescue|extreme|chill|practice|weekly|deluxe)\
    |daily)[ #]+|#)?\(SharePattern.noLetters)
    """

  /// Something like `Foodle 123 4/6`: a result, but of no game we know.
  static let unknown = SharePattern("^\(unknownHead)")
  private static let unknownHead = "[a-z]{3,}+\(SharePattern.puzzle)\(SharePattern.outcome)"

  /// The places where a head may begin.
  static let beginnings = SharePattern(
    """
    (?=\(words)(?:\(all.map(\.name).joined(separator: "|"))))|(?<![a-z])(?=\(unknownHead))
    """)
}

/// What the head of a share text told.
struct ShareHead {
  /// The rule of the game; `nil` for a game that this version does not know.
  let rule: ShareRule?
  /// The place where the result begins, which may be before the match.
  var start: Int
  let day: PuzzleDay?
  private let text: ShareText
  private let match: ShareMatch

  /// Takes a match of a rule's head; `nil` if it is mere talk.
  ///
  /// - Parameter rule: the rule; `nil` for any other game.
  init?(of rule: ShareRule?, in text: ShareText, at place: Range<Int>) {
    let pattern = rule?.head ?? ShareRule.unknown
    guard let match = pattern.matches(in: text, place).first else { return nil }
    self.rule = rule
    self.text = text
    self.match = match
    start = place.lowerBound
    let line = text.line(of: match.range)
    // A sentence without a puzzle's number may tell the day anywhere in its line.
    let days = match["puzzle"] == nil ? Self.days.matches(in: text, line).map(\.text) : []
    day = (match["day"].map { [$0] } ?? days).lazy.compactMap { PuzzleDay($0) }.first
    guard match["day"] == nil || day != nil, rule?.isResult(self) ?? (number("limit") ?? 0 >= 3)
    else { return nil }
    if rule?.isSentence == true { start = line.lowerBound }
  }

  private static let days = SharePattern("\(SharePattern.numericDay)|\(SharePattern.namedDay)")

  /// The place where the match ends.
  var end: Int { match.range.upperBound }

  subscript(name: String) -> String? { match[name] }

  /// The value of a group as a number.
  func number(_ name: String) -> Int? {
    match[name].flatMap { Int($0.filter(\.isNumber)) }
  }

  /// The first match of a pattern in the line of the head.
  ///
  /// - Parameter count: if given, between the head and the end of so many lines.
  func first(_ pattern: SharePattern, ahead count: Int? = nil) -> ShareMatch? {
    let ahead = count.map { end..<text.lineEnd(at: end, lines: $0) }
    return pattern.matches(in: text, ahead ?? text.line(of: match.range)).first
  }

  /// The error for a result without one of its parts.
  func lacks(_ part: String) -> ShareTextError {
    .incomplete(game: rule?.game.name ?? "", missing: part, line: text.lineNumber(at: start))
  }

  /// The error for a score that the game does not give.
  var impossible: ShareTextError {
    .impossibleScore(game: rule?.game.name ?? "", line: text.lineNumber(at: start))
  }
}

/// What a share text told of how it went.
struct SharePuzzle: Hashable, Sendable {
  /// The score; `nil` for a puzzle that was not solved.
  var score: Int?
  var completed: Bool
  /// What else was told.
  var data: [String: String] = [:]
}
