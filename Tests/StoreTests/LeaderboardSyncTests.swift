import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import LeaderboardStore

@Suite("Leaderboards over the engines and the server", .timeLimit(.minutes(20)))
struct LeaderboardSyncTests {
  let server = LoopbackServer()
  let container = LeaderboardDevice.containerName

  @Test("L: UserProfile, DailyScore and FriendConnection are private records with their fields")
  func socialRecordsArePrivate() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    let profile = try await phone.cloud.ensureProfile(displayName: " Ada ")
    #expect(profile.displayName == "Ada")
    let friend = FriendCode(random: { 12_345 })
    try await phone.cloud.addFriend(code: friend.description.lowercased())
    try await phone.cloud.publishDailyScores([score(3), score("strands", 20_261_103, nil)])
    let database = CKContainer(
      identifier: container, transport: server.device("reader", signedInAs: "ada")
    ).privateCloudDatabase
    func record(_ name: String) async throws -> CKRecord {
      try await database.record(for: socialID(name))
    }
    let me = try #require(phone.cloud.userId)
    let saved = try await record("profile-\(me)")
    #expect(saved.recordType == "UserProfile")
    #expect(
      Set(saved.allKeys()) == ["id", "displayName", "friendCode", "createdAt", "updatedAt"])
    #expect(saved["friendCode"] as? String == profile.friendCode && saved["id"] as? String == me)
    let connection = try await record("friend-\(friend.text)")
    #expect(connection.recordType == "FriendConnection")
    #expect(Set(connection.allKeys()) == ["friendCode", "addedAt"])
    let solved = try await record("score-\(me)-wordle-20261103")
    #expect(solved.recordType == "DailyScore")
    #expect(
      Set(solved.allKeys()) == [
        "id", "userId", "gameId", "dateInt", "score", "maxAttempts", "completed", "publishedAt",
      ])
    #expect(solved["dateInt"] as? Int64 == 20_261_103 && solved["score"] as? Int64 == 3)
    #expect(solved["completed"] as? Int64 == 1 && solved["maxAttempts"] as? Int64 == 6)
    let failed = try await record("score-\(me)-strands-20261103")
    #expect(failed["score"] == nil && failed["completed"] as? Int64 == 0)
  }

  @Test("L: Publishing is idempotent per person, game and day, and a better score replaces")
  func publishingIsIdempotentPerDay() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    let tablet = try LeaderboardDevice(server, "tablet")
    for device in [phone, tablet, phone] {
      try await device.cloud.publishDailyScores([score(4), score("bee", 20_261_103, 10, max: 0)])
    }
    #expect(try server.socialNames().count == 2)
    try await tablet.cloud.publishDailyScores([score(2), score("bee", 20_261_103, 5, max: 0)])
    try await phone.cloud.sync()
    #expect(phone.cloud.myScores.map(\.score) == [10, 2])
    #expect(phone.cloud.canonicalText == tablet.cloud.canonicalText)
    server.controls.forgetRequests()
    try await phone.cloud.publishDailyScores([score(2)])
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 0)
  }

  @Test("L: Two people share a leaderboard: invite, accept, publish and rank on all devices")
  func twoPeopleShareLeaderboard() async throws {
    let ada = try LeaderboardDevice(server, "ada's phone")
    let tablet = try LeaderboardDevice(server, "ada's tablet")
    let ben = try LeaderboardDevice(server, "ben's phone", account: "ben")
    let eve = try LeaderboardDevice(server, "eve's phone", account: "eve")
    _ = try await ada.cloud.ensureProfile(displayName: "Ada")
    _ = try await ben.cloud.ensureProfile(displayName: "Ben")
    try await ben.cloud.publishDailyScores([score(2), score("wordle", 20_261_102, 5)])
    try await ada.cloud.publishDailyScores([score(3)])
    let board = try await ada.cloud.createLeaderboard(title: "Family", id: testID(1))
    #expect(board.isMine && board.title == "Family" && board.id == testID(1).uuidString)
    let user = try #require(ben.cloud.userId)
    let url = try await ada.cloud.invite(user, to: "family")
    // Nobody gets in who was not invited.
    await #expect(throws: SocialServiceError.self) { try await eve.cloud.accept(url) }
    let joined = try await ben.cloud.accept(url)
    #expect(joined.title == "Family" && !joined.isMine)
    #expect(joined.members.map(\.hasJoined) == [true, true])
    for device in [ada, tablet, ben] { try await device.cloud.sync() }
    let today = LeaderboardQuery(
      gameId: "wordle", from: 20_261_103, through: 20_261_103, leaderboard: "Family")
    for device in [ada, tablet, ben] {
      #expect(try await device.ranking(today) == ["1 Ben 5", "2 Ada 4"], "\(device.link.name)")
    }
    #expect(tablet.cloud.canonicalText == ada.cloud.canonicalText)
    // A score published on another device of hers is in the leaderboard too.
    try await tablet.cloud.publishDailyScores([score(1)])
    try await ben.cloud.sync()
    #expect(try await ben.ranking(today) == ["1 Ada 6", "2 Ben 5"])
    try await ada.cloud.sync()
    #expect(ada.cloud.leaderboards.first?.members.map(\.displayName) == ["Ada", "Ben"])
    #expect(tablet.cloud.canonicalText == ada.cloud.canonicalText)
  }

  @Test("L: Friends who share a leaderboard are shown by name")
  func friendsSharingLeaderboardAreNamed() async throws {
    let (ada, ben, _) = try await family()
    let code = try await ben.cloud.generateFriendCode()
    try await ada.cloud.addFriend(code: "\(code)")
    #expect(try await ada.cloud.listFriends().map(\.profile?.displayName) == ["Ben"])
    let own = try await ada.cloud.generateFriendCode()
    await #expect(throws: SocialServiceError.ownFriendCode) {
      try await ada.cloud.addFriend(code: own.text)
    }
    try await ada.cloud.removeFriend(code: "\(code)")
    #expect(try await ada.cloud.listFriends().isEmpty)
    #expect(try server.socialNames().allSatisfy { !$0.hasPrefix("friend") })
    await #expect(throws: SocialServiceError.unknownFriend) {
      try await ada.cloud.removeFriend(code: "\(code)")
    }
  }

  /// Ada's leaderboard with Ben in it.
  func family(
    automaticallySync: Bool = false
  ) async throws -> (LeaderboardDevice, LeaderboardDevice, String) {
    let ada = try LeaderboardDevice(
      server, "ada's phone", automaticallySync: automaticallySync)
    let ben = try LeaderboardDevice(
      server, "ben's phone", account: "ben", automaticallySync: automaticallySync)
    _ = try await ada.cloud.ensureProfile(displayName: "Ada")
    _ = try await ben.cloud.ensureProfile(displayName: "Ben")
    let board = try await ada.cloud.createLeaderboard(title: "Family", id: testID(1))
    let url = try await ada.cloud.invite(try #require(ben.cloud.userId), to: board.id)
    try await ben.cloud.accept(url)
    try await ada.cloud.sync()
    return (ada, ben, board.id)
  }

  @Test("L: A revoked member loses the leaderboard, and the member's scores are removed from it")
  func revokedMemberLosesLeaderboard() async throws {
    let (ada, ben, board) = try await family()
    for device in [ada, ben] { try await device.cloud.publishDailyScores([score(3)]) }
    try await ada.cloud.sync()
    #expect(try await ada.ranking() == ["1 Ada 4", "1 Ben 4"])
    let user = try #require(ben.cloud.userId)
    try await ada.cloud.revoke(user, from: board)
    #expect(try await ada.ranking() == ["1 Ada 4"])
    try await ben.cloud.sync()
    #expect(ben.cloud.leaderboards.isEmpty && ben.cloud.waiting == 0)
    #expect(try await ben.ranking() == ["1 Ben 4"])
    try await ben.cloud.publishDailyScores([score(1)])
    try await ada.cloud.sync()
    #expect(try await ada.ranking() == ["1 Ada 4"])
    await #expect(throws: SocialServiceError.notInLeaderboard) {
      try await ada.cloud.revoke(user, from: board)
    }
  }

  @Test("L: A member can leave, the owner can end a leaderboard, and a link can admit everyone")
  func memberLeavesAndOwnerEndsLeaderboard() async throws {
    let (ada, ben, board) = try await family()
    try await ben.cloud.publishDailyScores([score(3)])
    await #expect(throws: SocialServiceError.ownerCannotLeave) { try await ada.cloud.leave(board) }
    await #expect(throws: SocialServiceError.notOwner) { try await ben.cloud.delete(board) }
    try await ben.cloud.leave(board)
    #expect(ben.cloud.leaderboards.isEmpty)
    try await ada.cloud.sync()
    #expect(try await ada.ranking().isEmpty)
    let link = try await ada.cloud.open(board)
    let eve = try LeaderboardDevice(server, "eve's phone", account: "eve")
    try await eve.cloud.accept(link)
    try await eve.cloud.publishDailyScores([score(1)])
    try await ada.cloud.sync()
    #expect(try await ada.ranking().count == 1)
    try await ada.cloud.delete(board)
    try await eve.cloud.sync()
    #expect(eve.cloud.leaderboards.isEmpty && ada.cloud.leaderboards.isEmpty)
  }

  @Test("L: Leaderboards are updated by push")
  func pushUpdatesLeaderboards() async throws {
    let (ada, ben, _) = try await family(automaticallySync: true)
    let changes = ada.cloud.changes
    try await ben.cloud.publishDailyScores([score(2)])
    for await _ in changes where try await ada.ranking() == ["1 Ben 5"] { break }
    let news = ben.cloud.changes
    try await ada.cloud.publishDailyScores([score(1)])
    for await _ in news where try await ben.ranking() == ["1 Ada 6", "2 Ben 5"] { break }
    for device in [ada, ben] { try await device.hybrid.shutDown() }
  }

  @Test("L: A score from another device enters leaderboards of the other database at once")
  func scoreReachesSharedLeaderboardsAtOnce() async throws {
    let (ada, ben, _) = try await family(automaticallySync: true)
    // Another device that does not copy it.
    var score = score(3)
    score.userId = try #require(ben.cloud.userId)
    let record = CKRecord(recordType: "DailyScore", recordID: socialID(score.id))
    score.copy(to: record)
    let changes = ada.cloud.changes
    try await CKContainer(
      identifier: container, transport: server.device("ben's tool", signedInAs: "ben")
    ).privateCloudDatabase.save(record)
    for await _ in changes where try await ada.ranking() == ["1 Ben 4"] { break }
    for device in [ada, ben] { try await device.hybrid.shutDown() }
  }

  @Test("L: 10,000 scores are sent in requests of hundreds and arrive on the other device")
  func tenThousandScoresSyncInLargeRequests() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    let tablet = try LeaderboardDevice(server, "tablet")
    try await phone.cloud.sync()
    server.controls.forgetRequests()
    try await phone.cloud.publishDailyScores(
      (0..<10_000).map { score("game\($0)", 20_261_103, $0 % 7, max: 7) })
    let requests = server.controls.requestCount(in: RequestScope(kind: .modifyRecords))
    #expect((1...60).contains(requests), "\(requests) requests")
    try await tablet.cloud.sync()
    #expect(tablet.cloud.myScores.count == 10_000)
    #expect(tablet.cloud.canonicalText == phone.cloud.canonicalText)
    #expect(try await tablet.cloud.fetchLeaderboard(LeaderboardQuery()).first?.played == 10_000)
  }

  @Test("L: A user cannot write a score for another user")
  func scoreForOtherPersonIsRefused() async throws {
    let (ada, ben, _) = try await family()
    try await ada.cloud.publishDailyScores([score(4)])
    try await ben.cloud.sync()
    let me = try #require(ada.cloud.userId)
    let database = CKContainer(
      identifier: container, transport: server.device("ben's tool", signedInAs: "ben")
    ).sharedCloudDatabase
    let zone = CKRecordZone.ID(
      zoneName: "Leaderboard-\(testID(1).uuidString)", ownerName: me)
    var forged = score(1)
    forged.userId = me
    let id = CKRecord.ID(recordName: forged.id, zoneID: zone)
    let record = try await database.record(for: id)
    forged.copy(to: record)
    try await database.save(record)
    var other = score("strands", 20_261_103, 1)
    other.userId = me
    let invented = CKRecord(
      recordType: "DailyScore", recordID: CKRecord.ID(recordName: other.id, zoneID: zone))
    other.copy(to: invented)
    try await database.save(invented)
    for device in [ada, ben] { try await device.cloud.sync() }
    for device in [ada, ben] { #expect(try await device.ranking() == ["1 Ada 3"]) }
    let restored = try await database.record(for: id)
    #expect(restored["score"] as? Int64 == 4)
  }
}
