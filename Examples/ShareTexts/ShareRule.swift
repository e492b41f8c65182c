/// How one game's share text is read: its name begins a result, the rest is the rule's business.
struct ShareRule: Sendable {
  /// The game.
  let game: Game

  /// What a result of the game begins with, in any case.
  let keywords: [String]

  /// Whether the game's name comes late in a sentence, so that the result begins with its line.
  var isSentence = false

  /// Reads on behind the keyword; `nil` when the name is mere talk.
  ///
  /// The second cursor walks
  /// through the whole line.
  let head: @Sendable (inout ShareCursor, ShareCursor) -> ShareHead?

  /// Reads the result itself.
  let read: @Sendable (ShareHead, inout ShareBody) throws(ShareFault) -> SharePuzzle

  /// Every game's rule.
  static let all: [ShareRule] =
    outcomeRules + gridRules + manyWordRules + sentenceRules + timedRules

  /// Words before a game's name that make it another series of puzzles.
  static let variants: Set<String> = [
    "mini", "micro", "sequence", "rescue", "extreme", "chill", "practice", "weekly", "deluxe",
  ]

  /// What a Globle result begins with.
  static let globes: Set<Unicode.Scalar> = ["🌍", "🌎", "🌏"]
}

/// What the head of a share text told.
struct ShareHead: Hashable, Sendable {
  /// The puzzle's number.
  var puzzle: Int?
  /// The puzzle's day.
  var day: PuzzleDay?
  /// The series of puzzles it is of, where it is not the daily one.
  var variant: String?
  /// The score, where it is in the head.
  var outcome: ShareOutcome?
  /// What else was told.
  var data: [String: String] = [:]
}

/// What a share text told of how it went.
struct SharePuzzle: Hashable, Sendable {
  /// The score; `nil` for a puzzle that was not solved.
  var score: Int?
  /// Whether it was solved.
  var completed: Bool
  /// What else was told.
  var data: [String: String] = [:]
}

/// Why a result can't be read.
enum ShareFault: Error, Hashable, Sendable {
  /// This part of it is missing.
  case missing(String)
  /// Its score can't be.
  case impossible
}

extension ShareOutcome {
  /// The outcome as a result.
  ///
  /// - Throws: when the game does not give such a score.
  func puzzle(_ game: Game, _ data: [String: String]) throws(ShareFault) -> SharePuzzle {
    guard limit == game.maxAttempts else { throw .impossible }
    guard let used else { return SharePuzzle(score: nil, completed: false, data: data) }
    guard used <= limit, used >= (game.scoring == .points ? 0 : 1) else { throw .impossible }
    return SharePuzzle(score: used, completed: true, data: data)
  }
}

extension [[Character]] {
  /// The rows as text, one line each.
  var text: String { map { String($0) }.joined(separator: "\n") }
}
