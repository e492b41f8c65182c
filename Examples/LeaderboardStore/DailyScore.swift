public import Foundation
import SyncSupport

/// How one person did in one game on one day.
///
/// There is one for each person, game and day; publishing it again, or on another device, makes no
/// second one. Fields as in the rows L of Docs/Stores.md.
public struct DailyScore: Hashable, Sendable, Codable, Identifiable {
  /// Names the score, made of person, game and day; the record's name too.
  public var id: String { "score-\(userId)-\(gameId)-\(dateInt)" }
  /// Whose it is; empty while nobody's.
  public var userId: String
  /// The game, 1 to 64 letters, digits, hyphens, dots or underscores.
  public let gameId: String
  /// The day as a number, such as 20261103.
  public let dateInt: Int
  /// What the game counts; absent for a puzzle that was not solved.
  public let score: Int?
  /// The most attempts the game allows; 0 where it sets no limit.
  public let maxAttempts: Int
  /// Whether the puzzle was solved.
  public let completed: Bool
  /// When it was published; whole milliseconds, so that it comes back from the cloud the same.
  public let publishedAt: Date

  /// Describes a score.
  public init(
    userId: String = "", gameId: String, dateInt: Int, score: Int?, maxAttempts: Int,
    completed: Bool, publishedAt: Date
  ) {
    self.userId = userId
    self.gameId = gameId
    self.dateInt = dateInt
    self.score = score
    self.maxAttempts = maxAttempts
    self.completed = completed
    self.publishedAt = publishedAt.roundedToMilliseconds
  }

  /// The number of the day of `date`.
  ///
  /// - Parameter calendar: says in which time zone.
  public static func dateInt(of date: Date, calendar: Calendar = .current) -> Int {
    let parts = calendar.dateComponents([.year, .month, .day], from: date)
    return (parts.year ?? 0) * 10_000 + (parts.month ?? 0) * 100 + (parts.day ?? 0)
  }

  /// Whether game and day are such as a score may have.
  ///
  /// - Throws: ``SocialServiceError`` that tells what is wrong.
  public func validate() throws(SocialServiceError) {
    guard Self.isGame(gameId) else { throw .invalidGame }
    guard Self.isDay(dateInt) else { throw .invalidDay(dateInt) }
  }

  static func isGame(_ name: String) -> Bool {
    name.utf8.count <= 64 && name.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil
  }

  static func isDay(_ number: Int) -> Bool {
    (1_900_01_01...9_999_12_31).contains(number) && (1...12).contains(number / 100 % 100)
      && (1...31).contains(number % 100)
  }
}
