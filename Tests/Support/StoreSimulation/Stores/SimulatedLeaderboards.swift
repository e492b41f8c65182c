import Foundation
import LeaderboardStore
import SimulationSupport

extension SimulatedStore {
  /// Scores among friends, with the device standing in while there is no cloud; the better score
  /// stays, of two equally good ones the later.
  static func leaderboards(_ device: DeviceSetting) throws -> SimulatedStore {
    let service = try HybridSocialService(
      directory: device.folder, container: device.container, looksForCloud: device.isAutomatic,
      automaticallySync: device.isAutomatic, clock: device.clock, random: device.random,
      now: device.now)
    if device.isAutomatic {
      Task.detached { [weak service] in try? await service?.setupRealTimeSubscriptions() }
    }
    let waitingCount = { @Sendable in service.waiting }
    return SimulatedStore(
      app: service,
      // The person's own scores; who they are is left out, as it is not known before a first sync.
      items: { service.myScores.map { (key($0), line($0)) } },
      canonicalText: { service.canonicalText },
      // What is in leaderboards; who is in them is told to each member otherwise.
      sharedItems: {
        service.canonicalRows.compactMap { row in
          guard let board = row.name.range(of: LeaderboardZones.prefix) else { return nil }
          let name = String(row.name[board.lowerBound...])
          return name.hasSuffix(" members") ? nil : (name, row.text)
        }
      },
      waitingCount: waitingCount,
      isWaiting: { _ in waitingCount() > 0 },
      edit: { random in try await edit(service, device, &random) },
      sync: {
        await service.checkCloud()
      },
      share: {
        try await service.open(
          service.createLeaderboard(title: "Everybody", id: device.newID()).id)
      },
      join: { try await service.accept($0) },
      quit: { try? await service.shutDown() })
  }

  private static func edit(
    _ service: HybridSocialService, _ device: DeviceSetting, _ random: inout SeededRandom
  ) async throws -> [StoreEdit] {
    switch random.below(12) {
    case 0:
      _ = try? await service.ensureProfile(displayName: device.text(&random))
      return []
    case 1:
      var number = SeededRandom(seed: UInt64(random.below(5)))
      let code = FriendCode { number.next() }
      _ = try? await service.addFriend(code: code.text)
      return []
    case 2:
      let friends = (try? await service.listFriends()) ?? []
      guard !friends.isEmpty else { return [] }
      let code = friends[random.below(friends.count)].connection.friendCode
      try? await service.removeFriend(code: code)
      return []
    default:
      let scores = (0...random.below(3)).map { _ in score(device, &random) }
      try await service.publishDailyScores(scores)
      return scores.map { score in
        let moment = Int64((score.publishedAt.timeIntervalSince1970 * 1_000).rounded())
        let bytes = withUnsafeBytes(of: moment.bigEndian) { Array($0) }
        return .wrote(
          key: key(score), line: line(score),
          rank: EditRank(first: score.score.map { 100 - Double($0) } ?? 0, then: bytes))
      }
    }
  }

  private static func score(
    _ device: DeviceSetting, _ random: inout SeededRandom
  ) -> DailyScore {
    let isSolved = random.below(4) > 0
    return DailyScore(
      gameId: random.pick(["wordle", "queens", "\(DeviceSetting.mark(of: device.account))"]),
      dateInt: 20_261_101 + random.below(4), score: isSolved ? 1 + random.below(6) : nil,
      maxAttempts: 6, completed: isSolved, publishedAt: device.now())
  }

  private static func key(_ score: DailyScore) -> String { "\(score.gameId) \(score.dateInt)" }

  private static func line(_ score: DailyScore) -> String {
    "\(score.score.map(String.init) ?? "none") of \(score.maxAttempts), \(score.completed), "
      + score.publishedAt.bits
  }
}
