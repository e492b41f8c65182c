import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore
@testable import SyncedStore

/// What the row and its seed ask for and no other test looks at.
@Suite("Row G: line by line", .timeLimit(.minutes(20)))
struct GameResultRowTests {
  let server = LoopbackServer()
  static let saves = RequestScope(kind: .modifyRecords)

  private func started(
    _ name: String, account: String = "ada", _ folder: ResultFolder
  ) async throws -> ResultDevice {
    let device = try ResultDevice(server, name, account: account, folder: folder)
    try device.store.start()
    try await device.store.syncNow()
    return device
  }

  private func database(_ account: String = "ada") -> CKDatabase {
    CKContainer(
      identifier: ResultDevice.containerName,
      transport: server.device("other version", signedInAs: account)
    ).privateCloudDatabase
  }

  @Test("G: Full storage causes no retry in an hour of polls, pushes and new results")
  func fullStorageSendsNoRequestForHour() async throws {
    let phone = try await started("phone", ResultFolder())
    try server.controls.setQuota(1, of: "ada")
    try phone.store.importResults(from: wordles(1_900...1_949))
    try await phone.store.syncNow()
    let atFirst = server.controls.requestCount(in: Self.saves)
    for minute in stride(from: 0, to: 60, by: 5) {
      // Another result, a push, the network coming back: none of them makes space.
      try phone.store.importResults(from: wordles((1_800 + minute)...(1_804 + minute)))
      phone.store.receivedPush(subscriptionID: GameResultStore.subscriptionID)
      phone.store.networkBecameAvailable()
      await phone.clock.waitForSleeper(of: .seconds(300))
      let updates = phone.store.statusUpdates
      phone.clock.advance(by: .seconds(300))
      var count = 0
      for await _ in updates {
        count += 1
        if count == 3 { break }
      }
      #expect(phone.store.status.isStorageFull)
    }
    #expect(server.controls.requestCount(in: Self.saves) == atFirst)
    let status = await phone.status { $0.failure != nil }
    #expect(status.message == "iCloud storage full. Free up space in Settings → iCloud.")
    try server.controls.setQuota(nil, of: "ada")
    try await phone.store.syncNow()
    #expect(try server.results(of: "ada").count == phone.store.results.count)
    #expect(phone.store.status.isSynced)
    await phone.store.stop()
  }

  @Test("G: Streaks are recomputed on every device and never synced; the zone has results only")
  func streaksAreRecomputedNotSynced() async throws {
    let folders = [ResultFolder(), ResultFolder()]
    let phone = try await started("phone", folders[0])
    try phone.store.importResults(from: wordles(1_955...1_962))
    try await phone.store.syncNow()
    let tablet = try await started("tablet", folders[1])
    #expect(tablet.store.streaks() == phone.store.streaks())
    #expect(tablet.store.streaks(game: .wordle).map(\.currentStreak) == [8])
    // Each device adds a day of its own: what was a conflict for ever is simply counted.
    try phone.store.add(sharedText: "Wordle 1,963 3/6")
    try tablet.store.add(sharedText: "Wordle 1,954 3/6")
    for device in [phone, tablet, phone] { try await device.store.syncNow() }
    #expect(tablet.store.streaks() == phone.store.streaks())
    #expect(phone.store.streaks(game: .wordle).map(\.currentStreak) == [10])
    let records = try server.records(
      in: .results, container: ResultDevice.containerName, account: "ada")
    #expect(Set(records.map { "\($0.type)" }).count == 1 && records.count == 10)
    let fields: Set<String> = [
      "gameID", "gameName", "gameType", "date", "score", "maxAttempts", "completed", "sharedText",
      "parsedData",
    ]
    for name in records.map(\.id.name) {
      let id = CKRecord.ID(recordName: name, zoneID: ResultRecord.zoneID)
      let record = try await database().record(for: id)
      #expect(Set(record.allKeys()) == fields && record.recordType == "GameResult")
    }
    for device in [phone, tablet] { await device.store.stop() }
  }

  @Test("G: Fields of a newer version stay when this device saves the result again")
  func newerFieldsSurviveSave() async throws {
    let phone = try await started("phone", ResultFolder())
    let result = try phone.store.add(sharedText: "Wordle 1,963 4/6")
    try await phone.store.syncNow()
    let id = ResultRecord.recordID(result.id)
    let record = try await database().record(for: id)
    record["mood"] = "proud"
    try await database().save(record)
    try await phone.store.syncNow()
    // A result never changes; deleted and added again before a sync, it is saved again.
    try phone.store.delete(result.id)
    try phone.store.add(sharedText: "Wordle 1,963 5/6")
    try await phone.store.syncNow()
    let after = try await database().record(for: id)
    #expect(after["mood"] as? String == "proud" && after["score"] as? Int == 5)
    await phone.store.stop()
  }

  @Test("G: A newer version's record is kept in the cloud and locally, but hidden until an update")
  func newerResultIsHiddenUntilUpdate() async throws {
    let folder = ResultFolder()
    let phone = try await started("phone", folder)
    let database = database()
    let newer = GameResultRecordTests.solved.record()
    newer["schemaVersion"] = 2
    let foreign = CKRecord(
      recordType: "Tournament",
      recordID: CKRecord.ID(recordName: "cup", zoneID: ResultRecord.zoneID))
    foreign["rounds"] = 3
    for record in [newer, foreign] { try await database.save(record) }
    let tags = try await [newer, foreign].asyncMap {
      try await database.record(for: $0.recordID).recordChangeTag
    }
    try await phone.store.syncNow()
    #expect(phone.store.results.isEmpty && phone.store.status.isSynced)
    #expect(phone.store.keptRecordNames == [newer.recordID.recordName, "cup"].sorted())
    #expect(phone.store.log.count { $0.message.contains("left alone and is kept") } == 2)
    await phone.store.stop()
    let after = try await [newer, foreign].asyncMap {
      try await database.record(for: $0.recordID).recordChangeTag
    }
    #expect(tags == after, "the server's records were touched")

    // The update: a version that reads the schema, which for this test is the one without a number.
    let updated = try ResultDevice(server, "phone", account: "ada", folder: folder)
    updated.device.isOnline = false
    updated.store.store.state.withLock { state in
      let id = newer.recordID
      state.table.update(id) { entry in
        let whole = entry.unreadable.flatMap { CKRecord(archive: $0) }
        whole?["schemaVersion"] = nil
        entry.unreadable = whole?.allFields
      }
    }
    try updated.store.start()
    #expect(updated.store.results == [GameResultRecordTests.solved])
    #expect(updated.store.keptRecordNames == ["cup"])
    // What another device deletes goes here too.
    try await database.deleteRecord(withID: foreign.recordID)
    updated.device.isOnline = true
    try await updated.store.syncNow()
    #expect(updated.store.keptRecordNames == [])
    await updated.store.stop()
  }

  @Test("G: When the network returns, waiting results are sent at once without a request")
  func returningNetworkSendsWaitingResults() async throws {
    let phone = try await started("phone", ResultFolder())
    phone.device.isOnline = false
    try phone.store.importResults(from: wordles(1_900...1_909))
    try await phone.store.syncNow()
    #expect(phone.store.status.state == .offline && phone.store.status.waiting == 10)
    phone.device.isOnline = true
    server.controls.forgetRequests()
    phone.store.networkBecameAvailable()
    _ = await phone.status { $0.waiting == 0 && $0.isSynced }
    #expect(server.controls.requestCount(in: Self.saves) == 1)
    #expect(try server.results(of: "ada").count == 10)
    await phone.store.stop()
  }

  @Test("G: After a reinstallation the app gets its results back without a request")
  func reinstalledAppRestoresResults() async throws {
    let results: [GameResult]
    do {
      let phone = try await started("phone", ResultFolder())
      try phone.store.importResults(from: wordles(1_900...1_930))
      try await phone.store.syncNow()
      results = phone.store.results
      await phone.store.stop()
    }
    let phone = try ResultDevice(server, "phone", account: "ada", folder: ResultFolder())
    #expect(phone.store.status.state == .syncing && phone.store.results.isEmpty)
    #expect(phone.store.status.emptyText == "Syncing your data...")
    try phone.store.start()
    _ = await phone.status { $0.isSynced }
    #expect(phone.store.results == results && results.count == 31)
    await phone.store.stop()
  }

  @Test("G: SyncState changes from syncing to synced, failed and offline, with the last sync date")
  func syncStateFollowsSyncOutcome() async throws {
    let phone = try ResultDevice(server, "phone", account: "ada", folder: ResultFolder())
    #expect(phone.store.status.state == .syncing)
    try phone.store.start()
    #expect(try await phone.store.syncNow() == .synced(lastSyncDate: ResultDevice.noon))
    #expect(phone.store.status.emptyText == "No results yet")
    server.controls.fail(next: 1, with: CloudError.Code.serviceUnavailable)
    let failed = try await phone.store.syncNow()
    guard case .failed(let failure) = failed else {
      Issue.record("\(failed)")
      return
    }
    #expect(failure.description == "iCloud temporarily unavailable. Retrying...")
    #expect(
      phone.store.status.notice
        == "iCloud temporarily unavailable. Retrying... Using offline data")
    phone.device.isOnline = false
    #expect(try await phone.store.syncNow() == .offline)
    #expect(phone.store.status.lastSync == ResultDevice.noon)
    await phone.store.stop()
  }

  /// Proves I13.
  @Test("G: No byte of the old account is left in memory, files or log", arguments: [true, false])
  func oldAccountResultsAreErased(_ isSwitch: Bool) async throws {
    // Made at run time, so that no literal of the program is found instead.
    let secret = "needle-\(UInt64.random(in: 1 << 60...UInt64.max))"
    let folder = ResultFolder()
    let phone = try await started("phone", folder)
    func result(_ number: Int) -> GameResult {
      GameResult(
        id: testID(number), gameId: Game.wordle.id, gameName: "Wordle", date: ResultDevice.noon,
        score: 3, maxAttempts: 6, completed: true, sharedText: secret,
        parsedData: ["note": secret])
    }
    try phone.store.add([result(1), result(2)])
    let newer = result(3).record()
    newer["schemaVersion"] = 2
    try await phone.store.syncNow()
    try await database().save(newer)
    try await phone.store.syncNow()
    phone.device.isOnline = false
    try phone.store.add([result(4)])
    try await phone.store.syncNow()
    let library = folder.url.appendingPathComponent("results.journal")
    _ = try AtomicFile(library).setAside()
    try Data(secret.utf8).write(to: URL(fileURLWithPath: library.path + ".new"))
    #expect(
      try TraceSearch(secret).files(below: folder.url) == [
        "results.journal", "results.journal.damaged-1", "results.journal.new",
      ])
    #expect(Self.memory(of: phone).contains(secret))
    let owner = try #require(phone.store.store.status.account)

    if isSwitch { phone.device.signIn(as: "ben") } else { phone.device.signOut() }
    phone.device.isOnline = true
    try await phone.store.syncNow()
    let ids = (1...4).map { testID($0).uuidString }
    let memory = Self.memory(of: phone)
    for text in [secret, owner] + ids {
      #expect(try TraceSearch(text).files(below: folder.url) == [], "\(text)")
      #expect(!memory.contains(text), "\(text)")
      #expect(!phone.store.log.contains { $0.message.contains(text) }, "\(text)")
    }
    #expect(phone.store.results.isEmpty && phone.store.streaks().isEmpty)
    #expect(phone.store.keptRecordNames.isEmpty && phone.store.status.waiting == 0)
    #expect(phone.store.uploads?.waiting.isEmpty == true)
    #expect(try server.results(of: "ada").count == 3, "the cloud keeps what is Ada's")
    if isSwitch { #expect(try server.results(of: "ben").isEmpty) }
    weak var engine: CKSyncEngine?
    engine = phone.store.store.state.withLock { $0.run?.engine }
    await phone.store.stop()
    #expect(engine == nil, "the engine is still held")
  }

  /// Everything the store holds, written out.
  static func memory(of device: ResultDevice) -> String {
    var text = ""
    device.store.state.withLock { state in
      dump(state.groups, to: &text)
      dump(state.held, to: &text)
      dump(state.attempts, to: &text)
      dump(state.postponed, to: &text)
      dump(state.refused, to: &text)
      dump(state.log, to: &text)
      dump(state.observed, to: &text)
    }
    device.store.store.state.withLock { state in
      dump(state.table, to: &text)
      dump(state.failure, to: &text)
      dump(state.run?.readZones, to: &text)
      dump(state.run?.engine?.state.pendingRecordZoneChanges.map { "\($0)" }, to: &text)
      for entry in state.table.entries.values {
        for archive in [entry.unreadable, entry.systemFields] {
          text += archive.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
      }
    }
    return text
  }
}

extension Array {
  /// The elements' images, one after the other.
  func asyncMap<Image>(_ image: (Element) async throws -> Image) async rethrows -> [Image] {
    var images: [Image] = []
    for element in self { images.append(try await image(element)) }
    return images
  }
}
