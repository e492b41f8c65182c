import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import LeaderboardStore

@Suite("Leaderboards, the hybrid service", .timeLimit(.minutes(20)))
struct LeaderboardHybridTests {
  let server = LoopbackServer()

  @Test("L: Without a cloud the local service is used and reported, then queued scores move up")
  func localServiceReplacesMissingCloud() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    phone.link.isOnline = false
    _ = try await phone.hybrid.ensureProfile(displayName: "Ada")
    let code = try await phone.hybrid.generateFriendCode()
    try await phone.hybrid.publishDailyScores([score(3), score("strands", 20_261_103, nil)])
    let friend = FriendCode(random: { 99 })
    try await phone.hybrid.addFriend(code: friend.text)
    #expect(phone.hybrid.serviceStatus == .local)
    #expect(phone.hybrid.reason == "No internet. Will sync when online.")
    #expect(phone.hybrid.waiting == 4)
    let rows = try await phone.hybrid.fetchLeaderboard(LeaderboardQuery())
    #expect(rows.map(\.played) == [2] && rows.first?.isMe == true)
    #expect(try await phone.hybrid.listFriends().map(\.connection.friendCode) == [friend.text])
    phone.link.isOnline = true
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(phone.hybrid.waiting == 0 && phone.hybrid.reason == nil)
    #expect(try server.socialNames().count == 4)
    // The code that was given out while there was no cloud stays the person's code.
    #expect(try await phone.hybrid.generateFriendCode() == code)
  }

  @Test("L: Scores made while signed out are moved up for the account that signs in")
  func signedOutScoresMoveToNewAccount() async throws {
    let phone = try LeaderboardDevice(server, "phone", account: nil)
    try await phone.hybrid.publishDailyScores([score(3)])
    #expect(phone.hybrid.reason == "Not signed in to iCloud. Sign in to sync.")
    #expect(
      try await phone.hybrid.fetchLeaderboard(LeaderboardQuery()).map(\.points) == [4])
    phone.link.signIn(as: "ada")
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(phone.cloud.myScores.map(\.score) == [3])
    #expect(try server.socialNames().count == 1)
  }

  @Test("L: The queue survives crashes before and after the cloud saved it, without duplicates")
  func queueSurvivesCrashes() async throws {
    let folder = ResultFolder()
    let scope = RequestScope(kind: .modifyRecords)
    do {
      let phone = try LeaderboardDevice(server, "phone", folder: folder)
      #expect(await phone.hybrid.checkCloud() == .cloudKit)
      phone.link.isOnline = false
      try await phone.hybrid.publishDailyScores([score(3), score("bee", 20_261_103, 9, max: 0)])
      // The app ends here without a word.
    }
    do {
      let phone = try LeaderboardDevice(server, "phone", folder: folder)
      #expect(phone.hybrid.waiting == 2)
      phone.link.isOnline = true
      // The cloud takes the scores, and the answer is lost; the app ends again.
      server.controls.dropAnswers(in: scope)
      #expect(await phone.hybrid.checkCloud() == .local)
      #expect(phone.hybrid.waiting == 2)
    }
    let phone = try LeaderboardDevice(server, "phone", folder: folder)
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(phone.hybrid.waiting == 0)
    #expect(try server.socialNames().count == 2)
    #expect(phone.cloud.myScores.map(\.score) == [9, 3])
  }

  @Test("L: While scores wait, the service looks for the cloud by itself")
  func serviceLooksForCloudWhileScoresWait() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    try await phone.hybrid.setupRealTimeSubscriptions()
    phone.link.isOnline = false
    try await phone.hybrid.publishDailyScores([score(3)])
    await phone.clock.waitForSleeper(of: .seconds(60))
    phone.clock.advance(by: .seconds(60))
    await phone.clock.waitForSleeper(of: .seconds(60))
    #expect(phone.hybrid.waiting == 1 && phone.hybrid.serviceStatus == .local)
    phone.link.isOnline = true
    phone.clock.advance(by: .seconds(60))
    await phone.clock.waitForSleeper(of: .seconds(60))
    #expect(phone.hybrid.waiting == 0 && phone.hybrid.serviceStatus == .cloudKit)
    #expect(try server.socialNames().count == 1)
    try await phone.hybrid.shutDown()
  }

  @Test("L: With full storage the local service is used; the failure is reported, not retried")
  func fullStorageFallsBackToLocalService() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    try server.controls.setQuota(0, of: "ada")
    server.controls.forgetRequests()
    try await phone.hybrid.publishDailyScores([score(3)])
    #expect(phone.hybrid.serviceStatus == .local)
    #expect(
      phone.hybrid.reason == "iCloud storage full. Free up space in Settings → iCloud.")
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) <= 1)
    for seconds in [2, 4, 8] { #expect(!phone.clock.hasSleeper(of: .seconds(seconds))) }
    try server.controls.setQuota(nil, of: "ada")
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(try server.socialNames().count == 1)
  }

  @Test("L: An owner's full storage or read-only permission does not prevent publishing")
  func ownersLimitsDoNotBlockPublishing() async throws {
    let ada = try LeaderboardDevice(server, "phone")
    let ben = try LeaderboardDevice(server, "ben's phone", account: "ben")
    _ = try await ben.cloud.ensureProfile(displayName: "Ben")
    let board = try await ada.cloud.createLeaderboard(title: "Family", id: testID(1))
    let user = try #require(ben.cloud.userId)
    try await ben.cloud.accept(try await ada.cloud.invite(user, to: board.id))
    try server.controls.setQuota(0, of: "ada")
    try await ben.hybrid.publishDailyScores([score(3)])
    #expect(ben.hybrid.serviceStatus == .cloudKit && ben.cloud.waiting == 1)
    #expect(ben.cloud.notices.first?.contains("storage of the owner is full") == true)
    try server.controls.setQuota(nil, of: "ada")

    let database = ada.cloud.container.privateCloudDatabase
    let id = CKRecord.ID(
      recordName: CKRecordNameZoneWideShare,
      zoneID: CKRecordZone.ID(zoneName: "Leaderboard-\(board.id)"))
    for permission in [CKShare.ParticipantPermission.readOnly, .readWrite] {
      let share = try #require(try await database.record(for: id) as? CKShare)
      for person in share.participants where person.role != .owner {
        person.permission = permission
      }
      try await database.save(share)
      try await ben.cloud.sync()
      try await ada.cloud.sync()
      #expect(try await ada.ranking() == (permission == .readOnly ? [] : ["1 Ben 4"]))
      #expect(ben.cloud.waiting == 0)
    }
  }

  @Test("L: Temporary failures are retried after 2, 4 and 8 seconds, then no more")
  func temporaryFailuresAreRetriedThreeTimes() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    try await phone.cloud.sync()
    server.controls.fail(
      next: 100, with: .serviceUnavailable, in: RequestScope(kind: .fetchDatabaseChanges))
    let pass = Task { try await phone.cloud.syncPatiently() }
    for seconds in [2, 4, 8] {
      await phone.clock.waitForSleeper(of: .seconds(seconds))
      phone.clock.advance(by: .seconds(seconds))
    }
    await #expect(
      throws: SocialServiceError.cloudKitUnavailable("iCloud temporarily unavailable.")
    ) { try await pass.value }
  }

  @Test("L: A typing error is reported to the user and never causes a fallback")
  func typingErrorCausesNoFallback() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    await #expect(throws: FriendCodeError.typingError) {
      try await phone.hybrid.addFriend(code: "AAAA-AAAB")
    }
    #expect(phone.hybrid.serviceStatus == .cloudKit && phone.hybrid.waiting == 0)
    phone.link.isOnline = false
    await #expect(throws: FriendCodeError.typingError) {
      try await phone.hybrid.addFriend(code: "AAAA-AAAB")
    }
  }

  @Test("L: Another account finds no data of the first one, in memory or in files")
  func otherAccountFindsNoScores() async throws {
    let phone = try LeaderboardDevice(server, "phone")
    _ = try await phone.hybrid.ensureProfile(displayName: "Zuzana-Ada")
    try await phone.cloud.createLeaderboard(title: "Zuzana-Family", id: testID(1))
    try await phone.hybrid.publishDailyScores([score("zuzana-game", 20_261_103, 3)])
    // A damaged file that was set aside is the old account's, too.
    try Data("zuzana".utf8).write(
      to: phone.folder.url.appendingPathComponent("leaderboards.journal.damaged-1"))
    phone.link.isOnline = false
    try await phone.hybrid.publishDailyScores([score("zuzana-queue", 20_261_103, 3)])
    phone.link.signIn(as: "ben")
    phone.link.isOnline = true
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    #expect(phone.cloud.myScores.isEmpty && phone.cloud.leaderboards.isEmpty)
    #expect(phone.hybrid.waiting == 0)
    #expect(try await phone.hybrid.myProfile() == nil)
    for name in phone.folder.names() {
      let data = try Data(contentsOf: phone.folder.url.appendingPathComponent(name))
      #expect(
        !String(decoding: data, as: UTF8.self).lowercased().contains("zuzana"), "\(name) tells")
    }
    #expect(
      try server.zones(container: LeaderboardDevice.containerName, account: "ben").isEmpty)
    // What waits for the cloud goes with its account; what nobody signed in made stays.
    phone.link.isOnline = false
    try await phone.hybrid.publishDailyScores([score("bens-game", 20_261_103, 3)])
    phone.link.signOut()
    phone.link.isOnline = true
    #expect(await phone.hybrid.checkCloud() == .local)
    #expect(phone.hybrid.waiting == 0)
    #expect(try await phone.hybrid.fetchLeaderboard(LeaderboardQuery()).isEmpty)
    phone.link.signIn(as: "ada")
    #expect(await phone.hybrid.checkCloud() == .cloudKit)
    try await phone.cloud.sync()
    #expect(phone.cloud.myScores.map(\.gameId) == ["zuzana-game"])
    #expect(phone.cloud.leaderboards.map(\.title) == ["Zuzana-Family"])
  }

  @Test("L: Data deleted while the engine's state was lost is deleted locally too")
  func deletionsDuringStateLossAreApplied() async throws {
    let folder = ResultFolder()
    let ben = try LeaderboardDevice(server, "ben's phone", account: "ben", folder: folder)
    let ada = try LeaderboardDevice(server, "phone")
    _ = try await ben.cloud.ensureProfile(displayName: "Ben")
    let board = try await ada.cloud.createLeaderboard(title: "Family", id: testID(1))
    let user = try #require(ben.cloud.userId)
    try await ben.cloud.accept(try await ada.cloud.invite(user, to: board.id))
    let friend = FriendCode(random: { 99 }).text
    try await ben.cloud.addFriend(code: friend)
    try await ben.hybrid.shutDown()
    try await ada.cloud.revoke(user, from: board.id)
    let tablet = try LeaderboardDevice(server, "ben's tablet", account: "ben")
    try await tablet.cloud.sync()
    try await tablet.cloud.removeFriend(code: friend)
    // The server forgets what was deleted, too, so that no list of deletions can tell.
    try server.controls.trimTombstones(
      of: .social, container: LeaderboardDevice.containerName, account: "ben")
    for name in ["private", "shared"] {
      try FileManager.default.removeItem(
        at: folder.url.appendingPathComponent("leaderboard-\(name)-state.data"))
    }
    let again = try LeaderboardDevice(server, "ben's phone", account: "ben", folder: folder)
    try await again.cloud.sync()
    #expect(again.cloud.leaderboards.isEmpty)
    #expect(try await again.cloud.listFriends().isEmpty)
    #expect(again.cloud.canonicalText == tablet.cloud.canonicalText)
  }

  @Test("L: Two people with three offline devices each end with the same data, byte for byte")
  func offlinePeopleConvergeExactly() async throws {
    for seed in 0..<2 {
      try await converge(UInt64(seed))
    }
  }

  private func converge(_ seed: UInt64) async throws {
    let server = LoopbackServer()
    var numbers = SeededNumbers(seed)
    var devices: [LeaderboardDevice] = []
    for account in ["ada", "ben"] {
      for name in ["phone", "tablet", "laptop"] {
        devices.append(
          try LeaderboardDevice(server, "\(account)'s \(name)", account: account))
      }
    }
    let (ada, ben) = (devices[0], devices[3])
    _ = try await ben.cloud.ensureProfile(displayName: "Ben")
    try await ada.cloud.createLeaderboard(title: "All", id: testID(1))
    try await ben.cloud.accept(
      try await ada.cloud.invite(try #require(ben.cloud.userId), to: "All"))
    for _ in 0..<40 {
      let device = devices[Int.random(in: 0..<6, using: &numbers)]
      switch Int.random(in: 0...5, using: &numbers) {
      case 0: device.link.isOnline.toggle()
      case 1: _ = try await device.hybrid.ensureProfile(displayName: "N\(numbers.next() % 9)")
      case 2:
        let value = numbers.next() % 4
        try await device.hybrid.addFriend(code: FriendCode(random: { value }).text)
      default:
        try await device.hybrid.publishDailyScores([
          score(
            ["wordle", "bee"][Int.random(in: 0...1, using: &numbers)],
            20_261_100 + Int.random(in: 1...3, using: &numbers),
            Bool.random(using: &numbers) ? Int.random(in: 1...6, using: &numbers) : nil,
            at: Double(Int.random(in: 0...5, using: &numbers)))
        ])
      }
    }
    for device in devices { device.link.isOnline = true }
    for _ in 0..<3 {
      for device in devices {
        #expect(await device.hybrid.checkCloud() == .cloudKit, "seed \(seed)")
        try await device.cloud.sync()
      }
    }
    let texts = devices.map(\.cloud.canonicalText)
    #expect(texts[1] == texts[0] && texts[2] == texts[0], "seed \(seed): ada")
    #expect(texts[4] == texts[3] && texts[5] == texts[3], "seed \(seed): ben")
    let all = LeaderboardQuery(leaderboard: "All")
    let rankings = [try await ada.ranking(all), try await ben.ranking(all)]
    #expect(rankings[0] == rankings[1], "seed \(seed)")
  }

  @Test("L: A damaged file is set aside and fetched again, and newer versions' data is kept")
  func damagedLeaderboardFileIsRefetched() async throws {
    let folder = ResultFolder()
    let phone = try LeaderboardDevice(server, "phone", folder: folder)
    try await phone.hybrid.publishDailyScores([score(3)])
    let database = CKContainer(
      identifier: LeaderboardDevice.containerName,
      transport: server.device("newer app", signedInAs: "ada")
    ).privateCloudDatabase
    let id = socialID(try #require(phone.cloud.myScores.first).id)
    let record = try await database.record(for: id)
    record["mood"] = "proud"
    record["maxAttempts"] = nil
    try await database.save(record)
    let newer = CKRecord(recordType: "Reaction", recordID: socialID("reaction-1"))
    newer["emoji"] = "🎉"
    try await database.save(newer)
    try await phone.hybrid.shutDown()
    let url = folder.url.appendingPathComponent("leaderboards.journal")
    try Data("damaged".utf8).write(to: url)
    #expect(throws: FileError.self) {
      try LeaderboardDevice(server, "phone", folder: folder)
    }
    let again = try LeaderboardDevice(server, "phone", folder: folder, recovering: true)
    #expect(
      again.cloud.recoveries.map(\.copy.lastPathComponent) == ["leaderboards.journal.damaged-1"])
    try await again.cloud.sync()
    #expect(again.cloud.myScores.map(\.maxAttempts) == [0])
    try await again.cloud.publishDailyScores([score(2)])
    let kept = try await database.record(for: id)
    #expect(kept["mood"] as? String == "proud" && kept["score"] as? Int64 == 2)
    #expect(try await database.record(for: newer.recordID)["emoji"] as? String == "🎉")
  }
}
