/// Why pasted text, or a part of it, is no result; the description never shows the text itself.
public enum ShareTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no text.
  case empty
  /// The text is longer than anything people paste.
  case tooLong
  /// Nothing in the text looks like a result of a known game.
  case nothingRecognised
  /// A line looks like a result of a game this version does not know.
  case unknownGame(line: Int)
  /// A game was recognised, but a part of its result is missing.
  case incomplete(game: String, missing: String, line: Int)
  /// The score is outside what the game allows.
  case impossibleScore(game: String, line: Int)
  /// There are several results where one was asked for.
  case severalResults(Int)

  /// One sentence for people: what is wrong, where, and what to do.
  public var description: String {
    switch self {
    case .empty: "There is no text; paste what the game's Share button gives."
    case .tooLong: "The text is too long; paste fewer results at a time."
    case .nothingRecognised:
      "No result was found in the text; paste what the game's Share button gives, unchanged."
    case .unknownGame(let line):
      "Line \(line) looks like a result of a game that is not supported."
    case .incomplete(let game, let missing, let line):
      "The \(game) result in line \(line) lacks \(missing); paste all of what was shared."
    case .impossibleScore(let game, let line):
      "The \(game) result in line \(line) has a score that \(game) does not give."
    case .severalResults(let count):
      "The text holds \(count) results; import them together, or paste one at a time."
    }
  }
}
