import CloudSync
import Foundation
import LoopbackServer
import SyncSupport
import Testing

@testable import LeaderboardStore

@Suite("Leaderboards, files of the first version", .timeLimit(.minutes(20)))
struct LeaderboardFirstVersionTests {
  private struct Kept<Value: Codable & Sendable>: Codable, Sendable {
    var value: Value
    var systemFields: Data?
    var isUnsent = false
  }

  private struct Book: Codable, Sendable {
    var owner: String?
    var profile: Kept<UserProfile>?
    var friends: [String: Kept<FriendConnection>]
    var goneFriends: Set<String>
    var scores: [String: Kept<DailyScore>]
    var boards: [String: String] = [:]
    var lastSync: Date?
  }

  private struct Queue: Codable, Sendable {
    var owner: String?
    var profile: UserProfile?
    var isNamed = true
    var friends: [String: FriendConnection]
    var goneFriends: Set<String>
    var scores: [String: DailyScore]
  }

  private let server = LoopbackServer()
  private let codes = (0..<4).map { code in FriendCode(random: { UInt64(code) }).text }

  /// Writes the files of a device of `user` that knows what is on the server, and has changes.
  private func writeFiles(_ folder: URL, of user: String?, queuedFor queued: String?) throws {
    func friend(_ number: Int) -> FriendConnection {
      FriendConnection(friendCode: codes[number], addedAt: LeaderboardDevice.noon)
    }
    func scores(_ scores: [DailyScore], of user: String) -> [DailyScore] {
      scores.map { score in
        var score = score
        score.userId = user
        return score
      }
    }
    if let user {
      let profile = UserProfile(
        id: user, displayName: "Ada", friendCode: codes[3], createdAt: LeaderboardDevice.noon,
        updatedAt: LeaderboardDevice.noon)
      let made = scores([score(2), score("strands", 20_261_101, 4)], of: user)
      try DocumentFile<Book>(
        folder.appendingPathComponent("leaderboards.json"), format: "social-book"
      ).write(
        Book(
          owner: user, profile: Kept(value: profile, isUnsent: true),
          friends: [codes[0]: Kept(value: friend(0), isUnsent: true)], goneFriends: [codes[1]],
          scores: Dictionary(
            uniqueKeysWithValues: made.map { ($0.id, Kept(value: $0, isUnsent: true)) })))
    }
    let waiting = scores([score(5), score("bee", 20_261_102, 7)], of: "local")
    try DocumentFile<Queue>(
      folder.appendingPathComponent("social-local.json"), format: "social-local"
    ).write(
      Queue(
        owner: queued, friends: [codes[2]: friend(2)], goneFriends: [],
        scores: Dictionary(uniqueKeysWithValues: waiting.map { ($0.id, $0) })))
  }

  @Test("L: Files of the first version are taken over once, with everything that waits in them")
  func firstVersionFilesAreTakenOver() async throws {
    let tablet = try LeaderboardDevice(server, "tablet")
    try await tablet.cloud.addFriend(code: codes[1])
    let user = try #require(tablet.cloud.userId)
    let folder = ResultFolder()
    try writeFiles(folder.url, of: user, queuedFor: user)
    let phone = try LeaderboardDevice(server, "phone", folder: folder)
    #expect(folder.names().allSatisfy { !$0.hasSuffix(".json") })
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(phone.hybrid.waiting == 0)
    try await tablet.cloud.sync()
    for device in [phone, tablet] {
      let friends = try await device.cloud.listFriends().map(\.connection.friendCode)
      #expect(friends == [codes[0], codes[2]].sorted())
      #expect(device.cloud.profile?.displayName == "Ada")
      // Of two scores of the same day, in the file and in the queue, the better one.
      #expect(device.cloud.myScores.map(\.score) == [7, 4, 2])
    }
    #expect(phone.cloud.canonicalText == tablet.cloud.canonicalText)
  }

  @Test("L: A queue of the first version is of the account that is named in it, or of the next one")
  func firstVersionQueueHasItsOwner() async throws {
    for owner in [nil, "_somebody"] {
      let folder = ResultFolder()
      try writeFiles(folder.url, of: nil, queuedFor: owner)
      let phone = try LeaderboardDevice(LoopbackServer(), "phone", folder: folder)
      #expect(await phone.hybrid.checkCloud() == .cloudKit)
      #expect(phone.cloud.myScores.map(\.score) == (owner == nil ? [7, 5] : []))
      #expect(try await phone.cloud.listFriends().count == (owner == nil ? 1 : 0))
      #expect(phone.hybrid.waiting == 0)
    }
  }
}
