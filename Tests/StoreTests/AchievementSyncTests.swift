import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import AchievementStore

@Suite("Achievements over the engine and the server", .timeLimit(.minutes(20)))
struct AchievementSyncTests {
  let server = LoopbackServer()
  let container = AchievementDevice.containerName

  @Test("A: Sync is off by default, and while it is off no data leaves the device")
  func syncIsOffByDefault() async throws {
    let phone = try AchievementDevice(server, "phone", isEnabled: false)
    #expect(!phone.store.isEnabled)
    try phone.note("played", 60)
    try phone.store.startIfEnabled()
    await phone.store.syncIfEnabled()
    await #expect(throws: SyncedStoreError.self) { try await phone.store.sync() }
    #expect(server.controls.requestCount() == 0)
    #expect(phone.store.status.text == "Off. Achievements stay on this device.")
    try phone.store.setEnabled(true)
    try await phone.store.sync()
    try phone.store.setEnabled(false)
    let requests = server.controls.requestCount()
    try phone.note("played", 500)
    await phone.store.syncIfEnabled()
    #expect(server.controls.requestCount() == requests)
    // The switch is remembered by the next launch, and so is what was reached meanwhile.
    let again = try AchievementDevice(server, "phone", folder: phone.folder, isEnabled: false)
    #expect(!again.store.isEnabled)
    #expect(again.progress("played") == [500, 4, 1, 2, 3, 4])
  }

  @Test("A: AchievementsZone has one record user_achievements, with its four fields")
  func oneRecordHoldsAchievements() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("streak", 8)
    try phone.note("explorer", 1)
    try await phone.store.sync()
    let names = try server.records(in: .achievements, container: container, account: "ada").map {
      $0.id.name
    }
    #expect(names == ["user_achievements"])
    let record = try await server.achievements()
    #expect(record.recordType == "UserAchievements")
    #expect(Set(record.allKeys()) == ["version", "payload", "lastUpdated", "summary"])
    #expect(record["version"] as? Int64 == 1)
    #expect(record["lastUpdated"] as? Date == AchievementDevice.noon)
    #expect(record["payload"] as? Data == Data(phone.store.canonicalText.utf8))
    #expect(try AchievementDevice.summary(of: record) == ["consistency": 1, "variety": 0])
    #expect(phone.store.status.text == "Synced.")
    // Nothing new: the next pass saves nothing.
    server.controls.forgetRequests()
    try await phone.store.sync()
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 0)
  }

  @Test("A: Offline devices agree after a pull, a merge and a push, whatever their clocks show")
  func offlineDevicesConvergeAfterPullAndPush() async throws {
    let phone = try AchievementDevice(server, "phone", now: .distantPast)
    let tablet = try AchievementDevice(server, "tablet", now: .distantFuture)
    try phone.note("played", 60)
    try phone.note("perfect", 1)
    try tablet.note("played", 20)
    try tablet.note("explorer", 4)
    for device in [phone, tablet, phone] { try await device.store.sync() }
    #expect(phone.store.canonicalText == tablet.store.canonicalText)
    #expect(phone.progress("played") == [60, 2, 1, 2])
    #expect(tablet.progress("perfect") == [1, 1, 1])
    #expect(phone.progress("explorer") == [4, 2, 1, 2])
    let newest = try await server.achievements()
    #expect(newest["payload"] as? Data == Data(phone.store.canonicalText.utf8))
  }

  @Test("A: A serverRecordChanged conflict is merged onto the server's record and sent again")
  func conflictIsMergedAndSentAgain() async throws {
    let phone = try AchievementDevice(server, "phone")
    let tablet = try AchievementDevice(server, "tablet")
    for device in [phone, tablet] { try await device.store.sync() }
    try phone.note("played", 60)
    try tablet.note("solved", 30)
    // The tablet's save arrives between the phone's pull and its push.
    server.controls.hold(in: RequestScope(kind: .modifyRecords))
    async let first: Void = phone.store.sync()
    await server.controls.waitForHeldRequests(1, in: RequestScope(kind: .modifyRecords))
    async let second: Void = tablet.store.sync()
    await server.controls.waitForHeldRequests(2, in: RequestScope(kind: .modifyRecords))
    server.controls.clear()
    server.controls.release()
    _ = try await (first, second)
    for device in [phone, tablet] { try await device.store.sync() }
    #expect(phone.store.canonicalText == tablet.store.canonicalText)
    #expect(phone.progress("solved")[0] == 30 && phone.progress("played")[0] == 60)
    #expect(
      try await server.achievements()["payload"] as? Data
        == Data(phone.store.canonicalText.utf8))
  }

  @Test("A: An endless conflict is given up after a bounded number of tries")
  func endlessConflictIsGivenUp() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 5)
    try await phone.store.sync()
    try phone.note("played", 60)
    server.controls.forgetRequests()
    let scope = RequestScope(kind: .modifyRecords)
    server.controls.fail(next: 1_000, with: .serverRecordChanged, in: scope)
    await #expect(throws: (any Error).self) { try await phone.store.sync() }
    #expect((1...40).contains(server.controls.requestCount(in: scope)))
    #expect(phone.store.status.isUnsent)
    server.controls.clear()
    try await phone.store.sync()
    #expect(!phone.store.status.isUnsent)
  }

  @Test("A: Achievements of another device arrive by push")
  func pushDeliversOtherDevicesAchievements() async throws {
    let phone = try AchievementDevice(server, "phone", automaticallySync: true)
    let tablet = try AchievementDevice(server, "tablet", automaticallySync: true)
    try await phone.store.sync()
    try await tablet.store.sync()
    let changes = tablet.store.changes
    try phone.note("perfect", 3)
    for await _ in changes where tablet.progress("perfect") == [3, 2, 1, 2] { break }
    #expect(tablet.store.canonicalText == phone.store.canonicalText)
    for device in [phone, tablet] { try await device.store.shutDown() }
  }

  @Test("A: At launch, temporary failures are retried after 2, 4 and 8 seconds")
  func launchRetriesTemporaryFailures() async throws {
    let phone = try AchievementDevice(server, "phone")
    try await phone.store.sync()
    try phone.note("played", 60)
    phone.link.isOnline = false
    async let launch: Void = phone.store.syncIfEnabled()
    for seconds in [2, 4, 8] {
      await phone.clock.waitForSleeper(of: .seconds(seconds))
      phone.clock.advance(by: .seconds(seconds))
    }
    await launch
    #expect(
      phone.store.status.text
        == "No internet. Will sync when online. Achievements are kept on this device.")
    phone.link.isOnline = true
    await phone.store.syncIfEnabled()
    #expect(phone.store.status.failure == nil && !phone.store.status.isUnsent)
  }

  @Test("A: Full storage is reported and never retried")
  func fullStorageIsReportedNotRetried() async throws {
    let phone = try AchievementDevice(server, "phone")
    try await phone.store.sync()
    try server.controls.setQuota(0, of: "ada")
    try phone.note("played", 60)
    server.controls.forgetRequests()
    await phone.store.syncIfEnabled()
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 1)
    for seconds in [2, 4, 8] { #expect(!phone.clock.hasSleeper(of: .seconds(seconds))) }
    #expect(phone.store.status.failure?.code == .quotaExceeded)
    #expect(
      phone.store.status.text.hasPrefix(
        "iCloud storage full. Free up space in Settings → iCloud."))
    try server.controls.setQuota(nil, of: "ada")
    try await phone.store.sync()
    #expect(!phone.store.status.isUnsent && phone.store.status.failure == nil)
  }

  @Test(
    "A: The account's status is checked first and shown as a message",
    arguments: zip(
      [AccountAvailability.restricted, .temporarilyUnavailable],
      [
        "This iCloud account is not allowed to sync.",
        "Your iCloud account isn't ready. Will sync when it is.",
      ]))
  func unusableAccountIsReportedBeforeSync(_ availability: AccountAvailability, _ words: String)
    async throws
  {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    phone.link.setAvailability(availability)
    server.controls.forgetRequests()
    await #expect(throws: SyncFailure.self) { try await phone.store.sync() }
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 0)
    #expect(phone.store.status.text.hasPrefix(words))
    #expect(phone.progress("played")[0] == 60)
  }

  @Test("A: A missing record or zone at the first pull is not a failure")
  func missingRecordIsNoFailureAtFirst() async throws {
    let phone = try AchievementDevice(server, "phone")
    try await phone.store.sync()
    #expect(phone.store.status.text == "Synced.")
    #expect(try server.zones(container: container, account: "ada").isEmpty)
  }
}
