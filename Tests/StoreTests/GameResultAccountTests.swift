import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import GameResultStore
import LoopbackServer
import Records
import SyncSupport
import Testing

@Suite("Game results, accounts and zones", .timeLimit(.minutes(20)))
struct GameResultAccountTests {
  let server = LoopbackServer()
  let container = ResultDevice.containerName

  @Test("G: Another account sees no results of the first one, and its own results arrive")
  func otherAccountSeesNoResults() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let other = try ResultDevice(server, "other", account: "ben", folder: folders[1])
    try other.store.start()
    try other.store.importResults(from: wordles(1_700...1_702))
    try await other.store.syncNow()

    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    try phone.store.start()
    try phone.store.importResults(from: wordles(1_900...1_904))
    try await phone.store.syncNow()
    phone.device.isOnline = false
    try phone.store.importResults(from: wordles(1_910...1_912))
    phone.device.signIn(as: "ben")
    phone.device.isOnline = true
    try await phone.store.syncNow()
    #expect(Set(phone.store.results) == Set(other.store.results))
    #expect(try server.results(of: "ben").count == 3)
    #expect(try server.results(of: "ada").count == 5)
    #expect(phone.store.status.waiting == 0)
    for device in [phone, other] { await device.store.stop() }
  }

  @Test("G: Signing out removes results, queue and files at once; signing in restores them")
  func signOutRemovesResultsAndFiles() async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try phone.store.importResults(from: wordles(1_900...1_904))
    try await phone.store.syncNow()
    #expect(try TraceSearch("Wordle").files(below: folder.url) == ["results.journal"])
    phone.device.signOut()
    _ = await phone.status { _ in phone.store.results.isEmpty }
    #expect(phone.store.streaks().isEmpty && phone.store.status.waiting == 0)
    #expect(phone.store.status.lastSync == nil)
    #expect(try TraceSearch("Wordle").files(below: folder.url) == [])
    #expect(phone.store.status.emptyText.hasSuffix("Using offline data"))
    phone.device.signIn(as: "ada")
    _ = await phone.status { $0.isSynced }
    try await phone.store.syncNow()
    #expect(phone.store.results.count == 5)
    await phone.store.stop()
  }

  @Test("G: a switch while the app was not running is noticed at the next start")
  func switchWhileStopped() async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try phone.store.importResults(from: wordles(1_900...1_904))
    for _ in 0..<2 { try await phone.store.syncNow() }
    await phone.store.stop()
    phone.device.signIn(as: "ben")
    // Even the engine's state may be lost: the owner's name still tells.
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("sync-state.data"))
    let again = try ResultDevice(server, "phone", account: nil, folder: folder)
    try again.store.start()
    try await again.store.syncNow()
    #expect(again.store.results.isEmpty)
    #expect(try server.results(of: "ben").isEmpty)
    #expect(try server.results(of: "ada").count == 5)
    await again.store.stop()
  }

  @Test("G: Existing local results are uploaded and merged with those of the cloud by ID")
  func localResultsAreMergedByID() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    try tablet.store.start()
    try tablet.store.importResults(from: wordles(1_903...1_907))
    try await tablet.store.syncNow()

    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    try phone.store.importResults(from: wordles(1_900...1_904))
    let updated = try ResultDevice(server, "phone", account: nil, folder: folders[0])
    try updated.store.start()
    for device in [updated, tablet] { try await device.store.syncNow() }
    #expect(updated.store.results.count == 8)
    #expect(Set(tablet.store.results) == Set(updated.store.results))
    #expect(try server.results(of: "ada").count == 8)
    for device in [updated, tablet] { await device.store.stop() }
  }

  enum Loss: String, CaseIterable {
    case deleted, purged, encryptedDataReset
  }

  @Test(
    "A lost zone removes the results or is filled again, depending on the reason",
    arguments: Loss.allCases)
  func lostZoneClearsOrRefillsResults(_ loss: Loss) async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try phone.store.importResults(from: wordles(1_900...1_904))
    try await phone.store.syncNow()
    server.controls.dropPushes(next: 100)
    switch loss {
    case .deleted: try server.controls.deleteZone(.results, container: container, account: "ada")
    case .purged: try server.controls.purgeZone(.results, container: container, account: "ada")
    case .encryptedDataReset:
      try server.controls.resetEncryptedData(.results, container: container, account: "ada")
    }
    try await phone.store.syncNow()
    let kept = loss == .encryptedDataReset ? 5 : 0
    #expect(phone.store.results.count == kept)
    #expect(try server.results(of: "ada").count == kept)
    #expect(phone.store.status.waiting == 0)
    // A result made since brings the zone back, with a subscription.
    try phone.store.add(sharedText: "Wordle 1,950 2/6")
    try await phone.store.syncNow()
    #expect(try server.results(of: "ada").count == kept + 1)
    #expect(phone.store.status.isSynced)
    await phone.store.stop()
  }

  @Test(
    "A zone found missing while sending is explained by a fetch first", arguments: [false, true])
  func zoneMissingWhileSending(isReset: Bool) async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try phone.store.importResults(from: wordles(1_900...1_903))
    try await phone.store.syncNow()
    server.controls.dropPushes(next: 100)
    if isReset {
      try server.controls.resetEncryptedData(.results, container: container, account: "ada")
    } else {
      try server.controls.deleteZone(.results, container: container, account: "ada")
    }
    // Two seconds after a single result comes a pass that sends without fetching.
    try phone.store.add(sharedText: "Wordle 1,950 2/6")
    await phone.clock.waitForSleeper(of: .seconds(2))
    phone.clock.advance(by: .seconds(2))
    _ = await phone.status { $0.isSynced && $0.waiting == 0 }
    #expect(try server.results(of: "ada").count == (isReset ? 5 : 0))
    #expect(phone.store.results.count == (isReset ? 5 : 0))
    await phone.store.stop()
  }

  @Test("G: After an expired token all is fetched again, and results deleted meanwhile are removed")
  func expiredTokenFetchesEverythingAgain() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    for device in [phone, tablet] { try device.store.start() }
    try phone.store.importResults(from: wordles(1_900...1_904))
    for device in [phone, tablet] { try await device.store.syncNow() }
    tablet.device.isOnline = false
    try tablet.store.importResults(from: wordles(1_950...1_950))
    try phone.store.delete(try #require(phone.store.results.first).id)
    try await phone.store.syncNow()
    try server.controls.trimTombstones(of: .results, container: container, account: "ada")
    tablet.device.isOnline = true
    try await tablet.store.syncNow()
    #expect(tablet.store.results.count == 5)
    #expect(try server.results(of: "ada").count == 5)
    for device in [phone, tablet] { await device.store.stop() }
  }

  @Test("G: setting up twice makes one zone and one subscription")
  func setUpTwice() async throws {
    let folder = ResultFolder()
    for _ in 0..<2 {
      let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
      try phone.store.start()
      try phone.store.start()
      try await phone.store.syncNow()
      await phone.store.stop()
      await phone.store.stop()
    }
    #expect(try server.zones(container: container, account: "ada").map(\.name) == ["UserDataZone"])
    #expect(try server.subscriptions(container: container, account: "ada").count == 1)
    let saves = server.controls.requestCount(in: RequestScope(kind: .modifySubscriptions))
    #expect(saves == 1)
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyZones)) == 1)
  }
}
