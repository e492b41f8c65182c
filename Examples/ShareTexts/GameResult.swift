public import Foundation

/// One played puzzle, which never changes once it is made: it is added, synced and deleted.
public struct GameResult: Hashable, Sendable, Codable, Identifiable {
  /// Names the result; its record's name too.
  public let id: UUID
  /// The game's ID, as in the catalogue.
  public let gameId: UUID
  /// The game's name, so that results of games unknown to this version can be shown.
  public let gameName: String
  /// When it was played; whole milliseconds, so that it comes back from the cloud the same.
  public let date: Date
  /// The score, in what the game counts; absent for a puzzle that was not solved.
  public let score: Int?
  /// The most attempts the game allows; 0 where it sets no limit.
  public let maxAttempts: Int
  /// Whether the puzzle was solved.
  public let completed: Bool
  /// The text that was pasted, from the game's name to its last row.
  public let sharedText: String
  /// What else the text told, such as `puzzle` or `hardMode`.
  public let parsedData: [String: String]

  /// Puts a result together.
  public init(
    id: UUID, gameId: UUID, gameName: String, date: Date, score: Int?, maxAttempts: Int,
    completed: Bool, sharedText: String, parsedData: [String: String] = [:]
  ) {
    self.id = id
    self.gameId = gameId
    self.gameName = gameName
    // As `roundedToMilliseconds` of `SyncedStore`, which this module does not import.
    self.date = Date(
      timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1_000).rounded()
        / 1_000)
    self.score = score
    self.maxAttempts = maxAttempts
    self.completed = completed
    self.sharedText = sharedText
    self.parsedData = parsedData
  }
}
