import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: what its sequences tell", .timeLimit(.minutes(20)))
struct StreamTests {
  let server = LoopbackServer()

  /// The value that a sequence has at hand, if any; the sequence ends.
  private func buffered<Value: Sendable>(_ sequence: AsyncStream<Value>) async -> Value? {
    let task = Task {
      for await value in sequence { return Value?.some(value) }
      return nil
    }
    task.cancel()
    return await task.value
  }

  private func record(_ name: String, modified: Double) -> CKRecord {
    let id = CKRecord.ID(recordName: name, zoneID: NoteDevice.zone)
    let record = CKRecord(recordType: Note.recordType, recordID: id)
    Note(name, "text", modified: modified).copy(to: record)
    return record
  }

  @Test("An item that a fetch made surplus is told as removed")
  func surplusItemIsTold() async throws {
    let folder = TemporaryFolder()
    let type = SyncedType(
      Note.self, merging: Note.later,
      surplus: { notes in Array(notes.sorted { $0.modified < $1.modified }.dropLast(2)) })
    let store = try SyncedStore(zoneID: NoteDevice.zone, directory: folder.url, types: [type])
    for number in [2, 3] { try store.save(Note("\(number)", "text", modified: Double(number))) }
    var changes = store.changes.makeAsyncIterator()
    for number in [4, 5] {
      try store.receive([record("\(number)", modified: Double(number))])
    }
    let told = [await changes.next(), await changes.next()]
    #expect(told.map(\.?.recordID.recordName) == ["4", "2"])
    #expect(told.map(\.?.kind) == [.saved, .removed])
    #expect(store.status.activity.removed == 0, "the server removed none")
  }

  @Test("The status is told after a local change, at the start and begin of a sync and at its stop")
  func statusIsTold() async throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let store = phone.store
    var updates = store.statusUpdates
    try phone.write("a", "text")
    #expect(await buffered(updates)?.unsentCount == 1)
    updates = store.statusUpdates
    try phone.start()
    #expect(await buffered(updates)?.isRunning == true)
    try await store.sync()
    let list = RequestScope(kind: .fetchDatabaseChanges)
    server.controls.hold(next: 1, in: list)
    updates = store.statusUpdates
    async let sync: Void = store.sync()
    await server.controls.waitForHeldRequests(in: list)
    #expect(await buffered(updates)?.isSyncing == true)
    server.controls.release(in: list)
    try await sync
    updates = store.statusUpdates
    try store.stop()
    #expect(await buffered(updates)?.isRunning == false)
    try store.start()
    updates = store.statusUpdates
    try await store.shutDown()
    #expect(await buffered(updates)?.isRunning == false)
  }

  @Test("A change without effect gives no status: an observer may repeat it at each one")
  func changeWithoutEffectGivesNoStatus() async throws {
    let phone = try NoteDevice(server, "phone")
    let note = Note("a", "text", modified: 1)
    try phone.store.save(note)
    let updates = phone.store.statusUpdates
    try phone.store.save(note)
    try phone.store.delete(Note("unknown", ""))
    try phone.store.change { $0[property: "absent"] = nil }
    #expect(await buffered(updates) == nil)
    let later = phone.store.statusUpdates
    try phone.store.change { $0[property: "present"] = "value" }
    #expect(await buffered(later) != nil)
    try await phone.store.shutDown()
  }

  @Test("The sequences end with the store")
  func sequencesEndWithTheStore() async throws {
    var phone: NoteDevice? = try NoteDevice(server, "phone")
    let sequences = (phone?.store.changes, phone?.store.statusUpdates)
    let (changes, updates) = (try #require(sequences.0), try #require(sequences.1))
    try phone?.write("a", "text")
    try await phone?.store.shutDown()
    phone = nil
    var isTold = false
    for await _ in changes {}
    for await status in updates { isTold = !status.isRunning }
    #expect(isTold && !Task.isCancelled)
  }
}
