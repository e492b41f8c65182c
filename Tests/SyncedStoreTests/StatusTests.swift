import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

@Suite("SyncedStore: the status", .timeLimit(.minutes(20)))
struct StatusTests {
  let server = LoopbackServer()

  private func automaticStore(_ phone: NoteDevice) throws -> SyncedStore {
    phone.store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: phone.link),
      now: { Date(timeIntervalSince1970: 5) })
    return phone.store
  }

  /// The first status that fits.
  private func first(
    of updates: AsyncStream<SyncedStore.Status>, where fits: (SyncedStore.Status) -> Bool
  ) async -> SyncedStore.Status? {
    for await status in updates where fits(status) { return status }
    return nil
  }

  @Test("A partial failure is repeated by the engine only if each of its errors is")
  func partialFailureIsRetriedAsItsItemsAre() {
    func failure(_ codes: [CKError.Code]) -> CKError {
      let items = codes.enumerated().map { (AnyHashable($0.offset), CKError($0.element)) }
      return CKError(
        .partialFailure,
        userInfo: [CKPartialErrorsByItemIDKey: Dictionary(items) { first, _ in first }])
    }
    #expect(failure([.zoneBusy, .networkFailure]).isRetried)
    #expect(!failure([.zoneBusy, .quotaExceeded]).isRetried)
    #expect(!failure([]).isRetried && !CKError(.partialFailure).isRetried)
    #expect(CKError(.zoneBusy).isRetried && !CKError(.quotaExceeded).isRetried)
  }

  @Test("A sync that the engine began by itself is told, and its failure")
  func automaticSyncIsTold() async throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let store = try automaticStore(phone)
    let updates = store.statusUpdates
    try store.start()
    let synced = await first(of: updates) { $0.lastSync != nil }
    #expect(synced?.lastSync == Date(timeIntervalSince1970: 5) && synced?.failure == nil)
    phone.link.isOnline = false
    let later = store.statusUpdates
    await #expect(throws: CKError.self) { try await store.fetchChanges() }
    let failed = await first(of: later) { $0.failure != nil }
    #expect(failed?.failure?.code == .networkUnavailable && failed?.isSyncing == false)
    try await store.shutDown()
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.store.status.lastSync == Date(timeIntervalSince1970: 5))
  }

  @Test("The end of a sync is told")
  func endOfSyncIsTold() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    let updates = phone.store.statusUpdates
    try await phone.store.sync()
    var iterator = updates.makeAsyncIterator()
    let last = await iterator.next()
    #expect(last?.isSyncing == false && last?.lastSync == Date(timeIntervalSince1970: 1_000))
    #expect(last == phone.store.status)
    try await phone.store.shutDown()
  }

  @Test("After the first fetch by the engine itself, operations do not look through all items")
  func zonesAreLookedForOnce() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    try await phone.store.sync()
    try phone.store.stop()
    let store = try automaticStore(phone)
    let updates = store.statusUpdates
    try store.start()
    _ = await first(of: updates) { $0.lastSync == Date(timeIntervalSince1970: 5) }
    #expect(store.state.withLock { $0.run?.firstFetch?.mayLackZones } == false)
    #expect(phone.texts == ["a": "text"])
    try await store.shutDown()
  }

  @Test("A sync that is cancelled does not end the status of one that goes on")
  func cancelledSyncLeavesTheOther() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    let modify = RequestScope(kind: .modifyRecords)
    server.controls.hold(next: 1, in: modify)
    let sync = Task { try await phone.store.sync() }
    await server.controls.waitForHeldRequests(in: modify)
    let other = Task { try await phone.store.sync() }
    other.cancel()
    await #expect(throws: CKError.self) { try await other.value }
    #expect(phone.store.status.isSyncing)
    server.controls.release(in: modify)
    try await sync.value
    #expect(!phone.store.status.isSyncing && phone.store.status.failure == nil)
    #expect(phone.store.unsentRecordIDs == [])
    try await phone.store.shutDown()
  }

  @Test("The last 1,000 conflicts and problems are kept")
  func activityIsBounded() {
    var activity = SyncedStore.Activity()
    for number in 1...1_500 {
      activity.note(
        SyncedStore.Activity.Conflict(name: "\(number)", type: "Note", resolution: .merged))
      activity.note(.file("\(number)"), nil, "a problem")
    }
    let names = (501...1_500).map { "\($0)" }
    #expect(activity.conflicts.map(\.name) == names)
    #expect(activity.problems.map(\.name) == names)
  }
}
