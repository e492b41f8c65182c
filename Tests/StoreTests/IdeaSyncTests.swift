import CloudProtocol
import CloudSync
import Foundation
import IdeaStore
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@Suite("Ideas over queries, the engine and the server", .timeLimit(.minutes(20)))
struct IdeaSyncTests {
  let server = LoopbackServer()

  @Test("I: An idea made, changed and deleted on one device changes on the other by push")
  func pushDeliversIdeaChanges() async throws {
    let phone = try IdeaDevice(server, "phone")
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    let idea = try phone.store.create(title: "風箏 kite", description: "with a tail")
    await tablet.status { _ in tablet.store.idea(idea.id) != nil }
    #expect(tablet.store.ideas == [idea])
    let changed = try tablet.store.update(idea.id, description: "with two", isCompleted: true)
    await phone.status { _ in phone.store.idea(idea.id)?.version == 1 }
    #expect(phone.store.ideas == [changed])
    try phone.store.delete(idea.id)
    await tablet.status { _ in tablet.store.ideas.isEmpty }
    #expect(try server.ideas().isEmpty)
    #expect(tablet.store.deletedIdeas.map(\.idea) == [changed])
    let subscriptions = try server.subscriptions(
      container: IdeaStore.containerIdentifier, account: "ada")
    #expect(subscriptions.contains { $0.id.rawValue == IdeaStore.subscriptionID })
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: A sync by hand reports how it ended, also when the next one has begun")
  func syncByHandReportsItsOwnEnd() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    let restless = Task {
      while !Task.isCancelled {
        phone.store.trigger(.scheduled)
        await Task.yield()
      }
    }
    for _ in 0..<2_000 { #expect(try await phone.store.syncNow().phase == .synced) }
    restless.cancel()
    await restless.value
    await phone.store.stop()
  }

  @Test("I: The record has every field of the design, in the default zone, to the millisecond")
  func ideaRecordHasAllFields() async throws {
    let wall = SetClock(SetClock.noon + 0.123_456)
    let phone = try IdeaDevice(server, "phone", wall: wall)
    try await phone.begin()
    let idea = try phone.store.create(title: "t", description: "d")
    try await phone.store.syncNow()
    let record = try #require(try server.ideas().first)
    #expect(record.id == RecordID(name: idea.id.uuidString, zone: .default))
    #expect(record.type == "Idea")
    let date = Timestamp(secondsSinceReferenceDate: idea.createdAt.timeIntervalSinceReferenceDate)
    #expect(
      idea.createdAt
        == Date(timeIntervalSince1970: SetClock.noon + 0.123).roundedToMilliseconds)
    #expect(
      Dictionary(record.fields.map { ($0.key, $0.field.value) }) { $1 } == [
        "id": .string(idea.id.uuidString), "title": .string("t"), "description": .string("d"),
        "isCompleted": .int64(0), "createdAt": .date(date), "updatedAt": .date(date),
        "deviceId": .string("phone"), "version": .int64(0), "lastSyncedAt": .date(date),
      ])
    let state = try #require(phone.store.syncState(of: idea.id))
    #expect(!state.isPendingSync && state.remoteVersion == 0)
    #expect(state.lastSyncedAt == idea.createdAt)
    await phone.store.stop()
  }

  @Test("I: 150 pending ideas are sent in two requests of at most 100")
  func pendingIdeasAreSentInBatches() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    phone.device.isOnline = false
    for number in 0..<150 { try phone.store.create(title: "idea \(number)") }
    try await phone.store.syncNow()
    await phone.status { $0.phase == .offline && $0.pending == 150 }
    phone.device.isOnline = true
    server.controls.forgetRequests()
    phone.store.trigger(.networkRecovered)
    await phone.status(\.isDone)
    let sends = server.controls.requests.filter { $0.kind == .modifyRecords }
    #expect(sends.map(\.itemCount) == [100, 50])
    #expect(try server.ideas().count == 150)
    await phone.store.stop()
  }

  /// Sends one record, and counts what an engine tells of records.
  private final class Listener: CKSyncEngineDelegate {
    let record = CKRecord(recordType: "Idea", recordID: IdeaRecord.recordID(UUID.numbered(1)))
    let news = Mutex(0)

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
      if case .fetchedRecordZoneChanges = event { news.withLock { $0 += 1 } }
    }

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
      syncEngine.state.pendingRecordZoneChanges.isEmpty
        ? nil : CKSyncEngine.RecordZoneChangeBatch(recordsToSave: [record])
    }
  }

  /// Proves CE-100, E8.
  @Test("I: An engine sends to the default zone but receives no changes of it, so queries do")
  func defaultZoneChangesAreReadByQueries() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    server.controls.forgetRequests()
    try phone.store.create(title: "a")
    await phone.status(\.isDone)
    #expect(server.controls.requests.count { $0.kind == .modifyRecords } == 1)
    let listener = Listener()
    listener.record["title"] = "b"
    let engine = CKSyncEngine(
      CKSyncEngine.Configuration(
        database: server.database("desk"), stateSerialization: nil, delegate: listener))
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(listener.record.recordID)])
    try await engine.sendChanges()
    #expect(try server.ideas().count == 2)
    try await phone.store.syncNow()
    #expect(phone.titles.sorted() == ["a", "b"])
    try phone.store.create(title: "c")
    await phone.status(\.isDone)
    try await engine.fetchChanges()
    await engine.cancelOperations()
    #expect(listener.news.withLock { $0 } == 0)
    #expect(try server.ideas().count == 3)
    await phone.store.stop()
  }
}
