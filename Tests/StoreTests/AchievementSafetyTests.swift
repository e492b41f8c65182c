import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Testing

@testable import AchievementStore

@Suite("Achievements, accounts, files and other versions", .timeLimit(.minutes(20)))
struct AchievementSafetyTests {
  let server = LoopbackServer()
  let container = AchievementDevice.containerName

  @Test("A: Signing out clears all achievements, and signing in restores them")
  func signOutClearsAndSignInRestores() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 61_234)
    try await phone.store.sync()
    phone.link.signOut()
    await #expect(throws: SyncFailure.self) { try await phone.store.sync() }
    #expect(phone.store.stored.isEmpty && phone.progress("played") == [0, 0])
    #expect(phone.store.status.text.hasPrefix("Not signed in to iCloud. Sign in to sync."))
    #expect(phone.store.status.lastSync == nil)
    for name in phone.folder.names() {
      let data = try Data(contentsOf: phone.folder.url.appendingPathComponent(name))
      #expect(data.range(of: Data("61234".utf8)) == nil, "\(name) still tells")
    }
    phone.link.signIn(as: "ada")
    try await phone.store.sync()
    #expect(phone.progress("played")[0] == 61_234)
  }

  @Test("A: Achievements earned before any sign-in are kept and uploaded at the first sign-in")
  func achievementsBeforeSignInAreUploaded() async throws {
    let phone = try AchievementDevice(server, "phone", account: nil)
    try phone.note("played", 61_234)
    await #expect(throws: SyncFailure.self) { try await phone.store.sync() }
    #expect(phone.progress("played")[0] == 61_234)
    phone.link.signIn(as: "ada")
    try await phone.store.sync()
    let tablet = try AchievementDevice(server, "tablet")
    try await tablet.store.sync()
    #expect(tablet.progress("played") == phone.progress("played"))
  }

  @Test("A: Another account sees no data of the first, even after a switch while the app was off")
  func otherAccountSeesNoAchievements() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 61_234)
    try await phone.store.sync()
    phone.link.isOnline = false
    try phone.note("solved", 31_234)
    phone.link.signIn(as: "ben")
    phone.link.isOnline = true
    try await phone.store.sync()
    #expect(phone.store.stored.isEmpty)
    #expect(try server.zones(container: container, account: "ben").isEmpty)
    try phone.note("explorer", 2)
    try await phone.store.sync()
    try await phone.store.shutDown()

    let next = try AchievementDevice(server, "phone", account: "ada", folder: phone.folder)
    // Even the engine's state may be lost: the owner's name still tells.
    try? FileManager.default.removeItem(at: AchievementDevice.stateFile(phone.folder))
    try await next.store.sync()
    #expect(next.progress("explorer") == [0, 0] && next.progress("played")[0] == 61_234)
    let text = next.store.canonicalText
    #expect(!text.contains("31234"))
  }

  @Test(
    "A: A lost zone removes the achievements or is filled again, depending on the reason",
    arguments: 0..<4)
  func lostZoneClearsOrRefillsAchievements(_ loss: Int) async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    try await phone.store.sync()
    let controls = server.controls
    switch loss {
    case 0: try controls.deleteZone(.achievements, container: container, account: "ada")
    case 1: try controls.purgeZone(.achievements, container: container, account: "ada")
    case 2: try controls.resetEncryptedData(.achievements, container: container, account: "ada")
    default:
      let database = CKContainer(
        identifier: container, transport: server.device("other", signedInAs: "ada")
      ).privateCloudDatabase
      try await database.deleteRecord(withID: AchievementRecord.recordID)
    }
    try await phone.store.sync()
    let isKept = loss >= 2
    #expect(phone.progress("played")[0] == (isKept ? 60 : 0))
    try phone.note("solved", 5)
    try await phone.store.sync()
    let payload = try await server.achievements()["payload"] as? Data
    #expect(payload == Data(phone.store.canonicalText.utf8))
    #expect(phone.progress("played")[0] == (isKept ? 60 : 0))
  }

  @Test("A: Unknown fields of the record are kept when this device saves it again")
  func unknownRecordFieldsSurviveSave() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    try await phone.store.sync()
    try await server.changeAchievements { $0["theme"] = "dark" }
    try phone.note("played", 61)
    try await phone.store.sync()
    let record = try await server.achievements()
    #expect(record["theme"] as? String == "dark")
    #expect(record["payload"] as? Data == Data(phone.store.canonicalText.utf8))
  }

  @Test("A: Missing fields get their defaults; a damaged payload and summary are replaced")
  func missingRecordFieldsGetDefaults() async throws {
    try await server.changeAchievements {
      $0["payload"] = Data("no JSON".utf8)
      $0["summary"] = Data("bplist00".utf8)
    }
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    try await phone.store.sync()
    let record = try await server.achievements()
    #expect(record["version"] as? Int64 == 1)
    #expect(record["payload"] as? Data == Data(phone.store.canonicalText.utf8))
    #expect(try AchievementDevice.summary(of: record) == ["volume": 1])
  }

  @Test("A: A record of a newer version stays untouched until the app understands it")
  func newerRecordIsKeptUntilUpdate() async throws {
    let newer = AchievementSet([
      TieredAchievement(
        id: AchievementDevice.id("solved"), category: "volume",
        progress: TieredAchievement.Progress(currentValue: 99)
      ).json
    ])
    try await server.changeAchievements {
      $0["version"] = Int64(2)
      $0["payload"] = newer.payload
    }
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    try await phone.store.sync()
    #expect(phone.progress("solved") == [0, 0] && phone.progress("played")[0] == 60)
    #expect(phone.store.status.newerVersion == 2)
    #expect(phone.store.status.text.hasPrefix("A newer version of the app wrote"))
    let record = try await server.achievements()
    #expect(record["version"] as? Int64 == 2 && record["payload"] as? Data == newer.payload)
    try await phone.store.shutDown()

    let updated = try AchievementDevice(server, "phone", folder: phone.folder, version: 2)
    #expect(updated.progress("solved")[0] == 99 && updated.progress("played")[0] == 60)
    try await updated.store.sync()
    let payload = try await server.achievements()["payload"] as? Data
    #expect(payload == Data(updated.store.canonicalText.utf8))
  }

  @Test("A: A damaged file gives a clear error; recovery sets it aside and fetches again")
  func damagedFileIsReportedOrRecovered() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    try await phone.store.sync()
    try await phone.store.shutDown()
    for name in ["achievements.journal", "achievement-sync-state.data"] {
      let url = phone.folder.url.appendingPathComponent(name)
      var data = try Data(contentsOf: url)
      data[data.count / 2] ^= 0x01
      try data.write(to: url)
      do {
        _ = try AchievementDevice(server, "phone", folder: phone.folder)
        Issue.record("\(name) was read")
      } catch let error as FileError {
        #expect(error.step == .understand && error.url.lastPathComponent == name)
      }
      let again = try AchievementDevice(
        server, "phone", folder: phone.folder, recovering: true)
      #expect(again.store.recoveries.map(\.error.url.lastPathComponent) == [name])
      try await again.store.sync()
      #expect(again.progress("played")[0] == 60, "after damage to \(name)")
      #expect(again.folder.names().contains("\(name).damaged-1"))
      try await again.store.shutDown()
    }
    // The copies are the account's too.
    let last = try AchievementDevice(server, "phone", folder: phone.folder)
    last.link.signOut()
    await #expect(throws: SyncFailure.self) { try await last.store.sync() }
    #expect(last.folder.names().allSatisfy { !$0.contains("damaged") }, "\(last.folder.names())")
  }

  @Test("A: A lost answer, or a crash between two writes, loses and duplicates nothing")
  func crashesNeitherLoseNorDuplicate() async throws {
    let phone = try AchievementDevice(server, "phone")
    try phone.note("played", 60)
    // The answer to the push is lost, and the app ends without shutting down.
    server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords))
    await #expect(throws: (any Error).self) { try await phone.store.sync() }
    let again = try AchievementDevice(server, "phone", folder: phone.folder)
    try again.note("solved", 5)
    try await again.store.sync()
    let payload = try await server.achievements()["payload"] as? Data
    #expect(payload == Data(again.store.canonicalText.utf8))
    #expect(again.progress("played")[0] == 60 && again.progress("solved")[0] == 5)

    // The items reached the disk, the engine's state did not: it is as it was before.
    let state = AchievementDevice.stateFile(phone.folder)
    let old = try Data(contentsOf: state)
    let tablet = try AchievementDevice(server, "tablet")
    try tablet.note("perfect", 3)
    try await tablet.store.sync()
    try again.note("explorer", 4)
    try await again.store.sync()
    try old.write(to: state)
    let last = try AchievementDevice(server, "phone", folder: phone.folder)
    try await last.store.sync()
    try await tablet.store.sync()
    #expect(last.store.canonicalText == tablet.store.canonicalText)
    #expect(last.progress("perfect")[0] == 3 && tablet.progress("explorer")[0] == 4)
  }

  @Test("A: Achievements of the first version are taken over, with their unsent changes")
  func firstVersionOfAchievementsIsTakenOver() async throws {
    let folder = ResultFolder()
    let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("FirstVersion/achievements")
    try FileManager.default.createDirectory(
      at: folder.url, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(atPath: files.path) {
      try FileManager.default.copyItem(
        at: files.appendingPathComponent(file), to: folder.url.appendingPathComponent(file))
    }
    // The container that the files are of: the engine refuses a state of another one.
    let container = "iCloud.com.example.stores"
    let state = try Data(contentsOf: AchievementDevice.stateFile(folder))
    for _ in 0..<2 {
      let phone = try AchievementDevice(
        server, "phone", folder: folder, isEnabled: false, container: container)
      #expect(phone.progress("streak") == [4, 1, 1] && phone.progress("played") == [12, 1, 1])
      #expect(phone.store.stored.count == 2)
      let status = phone.store.status
      #expect(status.isEnabled && status.isUnsent)
      #expect(status.lastSync?.timeIntervalSinceReferenceDate == 817_122_494.539_934_2)
      #expect(status.lastUpdated?.timeIntervalSinceReferenceDate == 817_122_494.522_183_7)
      #expect(folder.names().sorted() == ["achievement-sync-state.data", "achievements.journal"])
      #expect(try Data(contentsOf: AchievementDevice.stateFile(folder)) == state)
      // The engine goes on with the state, which it would remove if the store did not know it.
      phone.link.isOnline = false
      try phone.store.startIfEnabled()
      #expect(folder.names().contains("achievement-sync-state.data"))
    }
    // The account is another one: nothing of the first one is sent or seen.
    let ben = try AchievementDevice(
      server, "phone", account: "ben", folder: folder, container: container)
    ben.link.isOnline = true
    try? await ben.store.sync()
    try await ben.store.sync()
    #expect(ben.store.stored.isEmpty)
    #expect(try server.zones(container: container, account: "ben").isEmpty)
  }
}
