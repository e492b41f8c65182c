import CloudSyncTesting
import Foundation
import LeaderboardStore

/// Scores, of which the better one stays: the score tells the version, and each item is a game.
///
/// The app uses the service that keeps everything on the device until the cloud has it.
final class TestedLeaderboards: ConformingApp {
  private static let day = 20_261_103

  private let service: HybridSocialService
  private let now: @Sendable () -> Date

  init(_ surroundings: AppSurroundings) throws {
    now = { surroundings.now }
    service = try HybridSocialService(
      directory: surroundings.folder, container: surroundings.container,
      scoring: LeaderboardScoring { _ in .moreIsBetter }, looksForCloud: false,
      automaticallySync: false, clock: surroundings.clock, now: { surroundings.now })
  }

  var items: [String: String] {
    get async throws {
      var items: [String: String] = [:]
      for name in Self.names {
        let query = LeaderboardQuery(gameId: Self.game(name), from: Self.day, through: Self.day)
        let score = try await service.fetchLeaderboard(query).first?.score
        items[name] = score.map { "\($0 - 1)" }
      }
      return items
    }
  }

  /// The suite's items.
  private static let names = [
    "a", "b", "c", "x", "bystander", "made elsewhere", "made later", "old", "before", "new", "sent",
    "unsent", "stays", "early",
  ]

  private static func game(_ name: String) -> String {
    name.split(separator: " ").joined(separator: "-")
  }

  func write(_ text: String, as name: String) async throws {
    guard let version = Int(text), Self.names.contains(name) else {
      throw SocialServiceError.invalidGame
    }
    try await service.publishDailyScores([
      DailyScore(
        gameId: Self.game(name), dateInt: Self.day, score: version + 1, maxAttempts: 0,
        completed: true, publishedAt: now())
    ])
  }

  func delete(_ name: String) async throws { throw SocialServiceError.invalidGame }

  func sync() async throws {
    await service.checkCloud()
    try await service.sync()
  }
}
