import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import GameResultStore
import LoopbackServer
import Records
import SyncSupport
import Testing

@Suite("Game results over the engine and the server", .timeLimit(.minutes(20)))
struct GameResultSyncTests {
  let server = LoopbackServer()

  @Test("G: A sync by hand reports how it ended, also when the next one has begun")
  func syncByHandReportsItsOwnEnd() async throws {
    let phone = try ResultDevice(server, "phone", account: "ada", folder: ResultFolder())
    try phone.store.start()
    let restless = Task {
      while !Task.isCancelled {
        phone.store.receivedPush(subscriptionID: GameResultStore.subscriptionID)
        await Task.yield()
      }
    }
    for _ in 0..<200 { #expect(try await phone.store.syncNow() != .syncing) }
    restless.cancel()
    await restless.value
    await phone.store.stop()
  }

  @Test("G: A silent push on user-data-zone-changes delivers a result to the other device")
  func silentPushDeliversResult() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    try phone.store.start()
    try tablet.store.start()
    try await phone.store.syncNow()
    try await tablet.store.syncNow()
    let result = try phone.store.add(sharedText: "Wordle 1,963 3/6*\n\n🟩🟩🟩🟩🟩")
    await phone.clock.waitForSleeper(of: .seconds(2))
    phone.clock.advance(by: .seconds(2))
    _ = await phone.status { $0.waiting == 0 && $0.isSynced }
    _ = await tablet.status { _ in tablet.store.result(result.id) != nil }
    #expect(tablet.store.results == [result])
    #expect(tablet.store.streaks().map(\.currentStreak) == [1])
    let subscriptions = try server.subscriptions(
      container: ResultDevice.containerName, account: "ada")
    #expect(subscriptions.map(\.id.rawValue) == ["user-data-zone-changes"])
    #expect(subscriptions.first?.notificationInfo?.shouldSendContentAvailable == true)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("G: Fifty imported results are sent in about ten requests, twelve at most")
  func fiftyResultsNeedAtMostTwelveRequests() async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try await phone.store.syncNow()
    server.controls.forgetRequests()
    let report = try phone.store.importResults(from: wordles(1_900...1_949))
    #expect(report.added.count == 50)
    let again = try phone.store.importResults(from: wordles(1_900...1_949))
    #expect(again.added.isEmpty && again.duplicates == 50)
    try await phone.store.syncNow()
    let requests = server.controls.requestCount(in: RequestScope(kind: .modifyRecords))
    #expect((9...12).contains(requests), "\(requests) requests")
    #expect(try server.results(of: "ada").count == 50)
    #expect(phone.store.status.waiting == 0)
    await phone.store.stop()
  }

  @Test("G: Results added offline survive a restart in the queue and arrive once")
  func offlineResultsSurviveRestart() async throws {
    let folder = ResultFolder()
    do {
      let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
      try phone.store.start()
      try await phone.store.syncNow()
      phone.device.isOnline = false
      try phone.store.importResults(from: wordles(1_850...1_949))
      let state = try await phone.store.syncNow()
      #expect(state == .offline)
      #expect(phone.store.status.message == "No internet. Will sync when online.")
      #expect(phone.store.status.waiting == 100)
      await phone.store.stop()
    }
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    #expect(phone.store.status.waiting == 100)
    phone.device.isOnline = true
    server.controls.forgetRequests()
    try phone.store.start()
    try await phone.store.syncNow()
    #expect(try server.results(of: "ada").count == 100)
    #expect(phone.store.status.waiting == 0)
    #expect(phone.store.results.count == 100)
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 1)
    await phone.store.stop()
  }

  @Test("G: A lost answer neither duplicates nor loses a result")
  func lostAnswerNeitherDuplicatesNorLoses() async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try await phone.store.syncNow()
    server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords))
    try phone.store.importResults(from: wordles(1_900...1_902))
    _ = try await phone.store.syncNow()
    #expect(phone.store.status.waiting == 3)
    await phone.clock.waitForSleeper(of: .seconds(2))
    phone.clock.advance(by: .seconds(2))
    _ = await phone.status { $0.waiting == 0 && $0.isSynced }
    #expect(try server.results(of: "ada").count == 3)
    await phone.store.stop()
  }

  @Test(
    "G: Retries wait 2, 4 and 8 seconds and then stop",
    arguments: [
      CloudError.Code.serviceUnavailable, .zoneBusy, .networkFailure,
    ])
  func retriesStopAfter8Seconds(_ code: CloudError.Code) async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try await phone.store.syncNow()
    try phone.store.importResults(from: wordles(1_900...1_902))
    let scope = RequestScope(kind: .modifyRecords)
    server.controls.forgetRequests()
    server.controls.fail(next: 100, with: code, in: scope)
    try await phone.store.syncNow()
    for (index, seconds) in [2, 4, 8].enumerated() {
      #expect(server.controls.requestCount(in: scope) == index + 1)
      await phone.clock.waitForSleeper(of: .seconds(seconds))
      let updates = phone.store.statusUpdates
      phone.clock.advance(by: .seconds(seconds))
      // The first is the status now; then the pass begins, and ends.
      var count = 0
      for await _ in updates {
        count += 1
        if count == 3 { break }
      }
    }
    #expect(server.controls.requestCount(in: scope) == 4)
    for seconds in [1, 2, 4, 8, 16] { #expect(!phone.clock.hasSleeper(of: .seconds(seconds))) }
    #expect(phone.store.status.waiting == 3)
    #expect(phone.store.status.message?.contains("Retrying") == false)
    server.controls.clear()
    try await phone.store.syncNow()
    #expect(phone.store.status.waiting == 0)
    await phone.store.stop()
  }

  @Test("G: Full storage is reported, never retried; waiting results are sent when there is space")
  func fullStorageSendsWhenSpaceReturns() async throws {
    let folder = ResultFolder()
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folder)
    try phone.store.start()
    try await phone.store.syncNow()
    try server.controls.setQuota(1, of: "ada")
    try phone.store.importResults(from: wordles(1_900...1_902))
    try await phone.store.syncNow()
    #expect(phone.store.status.failure?.code == .quotaExceeded)
    #expect(
      phone.store.status.message == "iCloud storage full. Free up space in Settings → iCloud.")
    #expect(phone.store.status.waiting == 3 && phone.store.status.isStorageFull)
    for seconds in [2, 4, 8] { #expect(!phone.clock.hasSleeper(of: .seconds(seconds))) }
    let scope = RequestScope(kind: .modifyRecords)
    let before = server.controls.requestCount(in: scope)
    phone.clock.advance(by: .seconds(300))
    _ = await phone.status { $0.failure != nil }
    #expect(server.controls.requestCount(in: scope) == before)
    try server.controls.setQuota(nil, of: "ada")
    try await phone.store.syncNow()
    #expect(phone.store.status.waiting == 0 && phone.store.status.isSynced)
    #expect(try server.results(of: "ada").count == 3)
    await phone.store.stop()
  }

  @Test("G: On a conflict the server's version stays on both devices")
  func serverResultWinsOnBothDevices() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    for device in [phone, tablet] { try device.store.start() }
    for device in [phone, tablet] { try await device.store.syncNow() }
    phone.device.isOnline = false
    tablet.device.isOnline = false
    let id = UUID()
    for (device, score) in [(phone, 3), (tablet, 5)] {
      try device.store.add([
        GameResult(
          id: id, gameId: Game.wordle.id, gameName: "Wordle", date: ResultDevice.noon,
          score: score, maxAttempts: 6, completed: true, sharedText: "Wordle 1 \(score)/6")
      ])
    }
    // The phone's version arrives first; the tablet sends before it fetches.
    phone.device.isOnline = true
    try await phone.store.syncNow()
    server.controls.fail(next: 1, with: .zoneBusy, in: RequestScope(kind: .fetchZoneChanges))
    tablet.device.isOnline = true
    for device in [tablet, phone] { try await device.store.syncNow() }
    try await tablet.store.syncNow()
    #expect(phone.store.results.map(\.score) == [3])
    #expect(tablet.store.results.map(\.score) == [3])
    #expect(tablet.store.status.waiting == 0)
    for device in [phone, tablet] { await device.store.stop() }
  }

  @Test("G: A deletion reaches the other device and the result does not return")
  func deletedResultStaysDeleted() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    for device in [phone, tablet] { try device.store.start() }
    try phone.store.importResults(from: wordles(1_900...1_904))
    for device in [phone, tablet] { try await device.store.syncNow() }
    #expect(tablet.store.results.count == 5)
    let id = try #require(tablet.store.results.first?.id)
    #expect(try tablet.store.delete(id))
    #expect(try !tablet.store.delete(id))
    for device in [tablet, phone, tablet] { try await device.store.syncNow() }
    #expect(phone.store.results.count == 4)
    #expect(tablet.store.results.count == 4)
    #expect(try server.results(of: "ada").count == 4)
    for device in [phone, tablet] { await device.store.stop() }
  }

  @Test("G: Without pushes a device polls every five minutes")
  func devicePollsEveryFiveMinutes() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    for device in [phone, tablet] { try device.store.start() }
    for device in [phone, tablet] { try await device.store.syncNow() }
    server.controls.dropPushes(next: 1_000)
    try phone.store.importResults(from: wordles(1_900...1_904))
    try await phone.store.syncNow()
    #expect(tablet.store.results.isEmpty)
    await tablet.clock.waitForSleeper(of: .seconds(300))
    tablet.clock.advance(by: .seconds(300))
    _ = await tablet.status { _ in tablet.store.results.count == 5 }
    #expect(tablet.store.results.count == 5)
    for device in [phone, tablet] { await device.store.stop() }
  }

  @Test("G: A new device fetches all results, page by page")
  func newDeviceFetchesAllPages() async throws {
    var limits = ServerLimits()
    limits.zoneChangesPage = 7
    server.controls.setLimits(limits)
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
    try phone.store.importResults(from: wordles(1_600...1_899))
    try phone.store.start()
    try await phone.store.syncNow()
    let tablet = try ResultDevice(server, "tablet", account: "ada", folder: folders[1])
    #expect(tablet.store.status.emptyText == "Syncing your data...")
    try tablet.store.start()
    try await tablet.store.syncNow()
    #expect(Set(tablet.store.results) == Set(phone.store.results))
    #expect(tablet.store.results.count == 300)
    for device in [phone, tablet] { await device.store.stop() }
  }
}
