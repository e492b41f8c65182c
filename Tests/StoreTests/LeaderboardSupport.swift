import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import LeaderboardStore

/// A device with the hybrid service, which syncs when it is told to.
final class LeaderboardDevice: Sendable {
  static let containerName = "iCloud.example.leaderboards"
  static let noon = Date(timeIntervalSince1970: 1_793_707_200)
  static let scoring = LeaderboardScoring { $0 == "bee" ? .moreIsBetter : .fewerIsBetter }

  let link: LoopbackDevice
  let folder: ResultFolder
  let clock = SimulatedClock()
  let hybrid: HybridSocialService
  var cloud: HybridSocialService { hybrid }

  init(
    _ server: LoopbackServer, _ name: String, account: String? = "ada",
    folder: ResultFolder = ResultFolder(), automaticallySync: Bool = false,
    looksForCloud: Bool = true, recovering: Bool = false, seed: UInt64? = nil
  ) throws {
    self.folder = folder
    link = server.device(name, signedInAs: account)
    let numbers = Mutex(SeededNumbers(seed ?? UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) })))
    hybrid = try HybridSocialService(
      directory: folder.url,
      container: CKContainer(identifier: Self.containerName, transport: link),
      scoring: Self.scoring, looksForCloud: looksForCloud, automaticallySync: automaticallySync,
      clock: automaticallySync ? ContinuousClock() : clock, recovering: recovering,
      random: { numbers.withLock { $0.next() } }, now: { Self.noon })
  }

  /// The ranking as `rank name points`.
  func ranking(_ query: LeaderboardQuery = LeaderboardQuery()) async throws -> [String] {
    try await cloud.fetchLeaderboard(query).map { "\($0.rank) \($0.displayName) \($0.points)" }
  }
}

/// A score in the game of the day.
func score(_ value: Int?, max: Int = 6, at seconds: Double = 0) -> DailyScore {
  score("wordle", 20_261_103, value, max: max, at: seconds)
}

func score(
  _ game: String, _ day: Int, _ score: Int?, max: Int = 6,
  at seconds: Double = 0
) -> DailyScore {
  DailyScore(
    gameId: game, dateInt: day, score: score, maxAttempts: max, completed: score != nil,
    publishedAt: LeaderboardDevice.noon.addingTimeInterval(seconds))
}

/// The ID of a record of the person's own zone.
func socialID(_ name: String) -> CKRecord.ID {
  CKRecord.ID(recordName: name, zoneID: LeaderboardZones.social)
}

extension ZoneID {
  static let social = ZoneID(name: "SocialZone")
}

extension LoopbackServer {
  /// The names of the records in the person's own zone.
  func socialNames(of account: String = "ada") throws -> [String] {
    try records(in: .social, container: LeaderboardDevice.containerName, account: account).map {
      $0.id.name
    }
  }
}
