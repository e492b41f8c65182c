import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

@Suite("SyncedStore: several zones in one store", .timeLimit(.minutes(20)))
struct ZonesTests {
  let server = LoopbackServer()
  private let work = CKRecordZone.ID(zoneName: "Work")

  /// A store of notes that accepts every zone.
  private func store(
    _ name: String, in folder: TemporaryFolder = TemporaryFolder(), recreates: Bool = true,
    scope: CKDatabase.Scope = .private,
    accepting accepts: @escaping @Sendable (CKRecordZone.ID) -> Bool = { _ in true }
  ) throws -> SyncedStore {
    let store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url,
      types: [SyncedType(Note.self, merging: Note.later)], accepting: accepts,
      recreating: { _ in recreates })
    let link = server.device(name, signedInAs: "anna")
    store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: link), scope: scope,
      automaticallySync: false)
    try store.start()
    return store
  }

  private var database: CKDatabase {
    let link = server.device("another app", signedInAs: "anna")
    return CKContainer(identifier: NoteDevice.container, transport: link).privateCloudDatabase
  }

  private func zoneNames() async throws -> [String] {
    try await database.allRecordZones().map(\.zoneID.zoneName)
      .filter { $0 != CKRecordZone.ID.defaultZoneName }.sorted()
  }

  @Test("The zones that exist are listed, here and on the other device, until they are deleted")
  func existingZonesAreListed() async throws {
    let (phone, desk) = (try store("phone"), try store("desk"))
    #expect(phone.zoneIDs == [])
    try phone.save(Note("a", "at work"), in: work)
    #expect(phone.zoneIDs == [], "the zone is not on the server yet")
    try phone.save(Note("a", "at home"))
    try await phone.sync()
    try await desk.sync()
    #expect(phone.zoneIDs == [NoteDevice.zone, work] && desk.zoneIDs == phone.zoneIDs)
    try await phone.deleteZone(work)
    #expect(phone.zoneIDs == [NoteDevice.zone])
    try await desk.sync()
    #expect(desk.zoneIDs == [NoteDevice.zone])
    for store in [phone, desk] { try await store.shutDown() }
  }

  @Test("A zone that can't be read keeps no change from being sent")
  func unreadableZoneKeepsNoChange() async throws {
    let (phone, desk) = (try store("phone"), try store("desk"))
    for (device, name) in [(phone, "a"), (desk, "b")] {
      try device.save(Note(name, name))
      try await device.sync()
    }
    try phone.save(Note("c", "c"))
    let scope = RequestScope(kind: .fetchZoneChanges, device: "phone")
    server.controls.forgetRequests()
    server.controls.fail(next: 100, with: .internalError, in: scope)
    await #expect(throws: CKError.self) { try await phone.sync() }
    #expect(phone.unsentRecordIDs.isEmpty)
    #expect(server.controls.requestCount(in: scope) == 2, "with the change, and after it")
    server.controls.clear()
    for device in [phone, desk] {
      try await device.sync()
      #expect(Set(device.items(Note.self).map(\.id)) == ["a", "b", "c"])
      try await device.shutDown()
    }
  }

  @Test("A fetch that fails as a whole ends a sync at once")
  func failedFetchIsNotRepeated() async throws {
    let phone = try store("phone")
    try await phone.sync()
    try phone.save(Note("a", "a"))
    let scope = RequestScope(kind: .fetchDatabaseChanges, device: "phone")
    server.controls.forgetRequests()
    server.controls.fail(next: 100, with: .badContainer, in: scope)
    let error = await #expect(throws: CKError.self) { try await phone.sync() }
    #expect(error?.code == .badContainer && server.controls.requestCount(in: scope) == 1)
    server.controls.clear()
    try await phone.sync()
    #expect(phone.unsentRecordIDs.isEmpty)
    try await phone.shutDown()
  }

  @Test("A zone of another store that can't be read is no failure of a sync")
  func unreadableZoneOfAnotherStoreIsNoFailure() async throws {
    let phone = try store("phone") { $0 == NoteDevice.zone }
    try phone.save(Note("a", "a"))
    try await phone.sync()
    try await phone.sync()
    _ = try await database.save(CKRecordZone(zoneID: work))
    _ = try await database.save(
      CKRecord(recordType: "Other", recordID: CKRecord.ID(recordName: "x", zoneID: work)))
    let scope = RequestScope(kind: .fetchZoneChanges, device: "phone")
    server.controls.fail(next: 1, with: .internalError, in: scope)
    try phone.save(Note("b", "b"))
    try await phone.sync()
    #expect(phone.unsentRecordIDs.isEmpty)
    server.controls.clear()
    try await phone.shutDown()
  }

  @Test("A zone that the store does not accept is not fetched, until it is accepted")
  func acceptedLaterIsFetchedThen() async throws {
    let desk = try store("desk")
    try desk.save(Note("p", "in a project"), in: work)
    try desk.save(Note("n", "note"))
    try await desk.sync()
    let folder = TemporaryFolder()
    let pages = RequestScope(kind: .fetchZoneChanges, device: "phone")
    for launch in 1...2 {
      let phone = try store("phone", in: folder) { $0 == NoteDevice.zone }
      try desk.save(Note("n", "note", modified: Double(launch)))
      try desk.save(Note("p", "in a project", modified: Double(launch)), in: work)
      try await desk.sync()
      server.controls.forgetRequests()
      for _ in 0..<2 { try await phone.sync() }
      #expect(server.controls.requestCount(in: pages) == 1, "one page of the own zone")
      #expect(phone.items(Note.self).map(\.id) == ["n"] && phone.zoneIDs == [NoteDevice.zone])
      try await phone.shutDown()
    }
    let updated = try store("phone", in: folder)
    try await updated.sync()
    #expect(updated.items(Note.self).map(\.id) == ["n", "p"])
    #expect(updated.zoneIDs == [NoteDevice.zone, work])
    // A zone that is deleted is not left out when another app creates it again.
    _ = try await database.deleteRecordZone(withID: work)
    try await updated.sync()
    #expect(updated.zoneIDs == [NoteDevice.zone])
    for store in [desk, updated] { try await store.shutDown() }
  }

  @Test("A deleted zone takes its items and unsent changes along, and no other zone's")
  func deletedZoneTakesItsItems() async throws {
    let folder = TemporaryFolder()
    let phone = try store("phone", in: folder)
    try phone.save(Note("a", "at work"), in: work)
    try phone.save(Note("b", "at home"))
    try await phone.sync()
    try phone.save(Note("c", "unsent"), in: work)
    try phone.save(Note("d", "unsent at home"))
    try await phone.deleteZone(work)
    #expect(phone.items(Note.self).map(\.id) == ["b", "d"])
    #expect(phone.unsentRecordIDs.map(\.recordName) == ["d"])
    #expect(try await zoneNames() == ["Notes"])
    try await phone.sync()
    #expect(try await zoneNames() == ["Notes"], "the deletion is not undone by a sync")
    try await phone.shutDown()
    let again = try store("phone", in: folder)
    #expect(again.items(Note.self).map(\.id) == ["b", "d"] && again.zoneIDs == [NoteDevice.zone])
    try again.save(Note("e", "work again"), in: work)
    try await again.sync()
    #expect(try await zoneNames() == ["Notes", "Work"])
    try await again.shutDown()
  }

  @Test("A zone that the server does not delete keeps its items")
  func refusedDeletionKeepsItems() async throws {
    let phone = try store("phone")
    try phone.save(Note("a", "at work"), in: work)
    try await phone.sync()
    server.device("phone").isOnline = false
    let error = await #expect(throws: CKError.self) { try await phone.deleteZone(work) }
    #expect(error?.code == .networkUnavailable)
    #expect(phone.items(Note.self).map(\.id) == ["a"] && phone.zoneIDs == [work])
    server.device("phone").isOnline = true
    try await phone.shutDown()
  }

  @Test(
    "A zone that is missing, and nobody is known to have deleted it, is created again if it may be",
    arguments: [true, false])
  func missingZoneIsCreatedIfItMay(recreates: Bool) async throws {
    let folder = TemporaryFolder()
    let phone = try store("phone", in: folder)
    try phone.save(Note("a", "at work"), in: work)
    try await phone.sync()
    try await phone.shutDown()
    _ = try await database.deleteRecordZone(withID: work)
    // Without the engine's state, no fetch can tell that the zone was deleted.
    try FileManager.default.removeItem(
      at: folder.url.appendingPathComponent(SyncedStore.FileNames().state))
    let again = try store("phone", in: folder, recreates: recreates)
    try await again.sync()
    #expect(again.items(Note.self).map(\.id) == (recreates ? ["a"] : []))
    #expect(again.unsentRecordIDs == [])
    #expect(try await zoneNames() == (recreates ? ["Work"] : []))
    try await again.shutDown()
  }

  @Test("The zones of another account's unsent items are not created")
  func zonesOfAnotherAccountAreNotCreated() throws {
    let phone = try store("phone")
    phone.state.withLock { $0.table.takeSignIn(CKRecord.ID(recordName: "_anna")) }
    try phone.save(Note("a", "at work"), in: work)
    let created = phone.state.withLock { state in
      state.table.takeSignIn(CKRecord.ID(recordName: "_ben"))
      return state.table.takeEffects().savedZones
    }
    #expect(created == [] && phone.items(Note.self) == [])
  }

  @Test("The end of a stopped engine's fetch says nothing about the zones of the next engine")
  func stoppedEngineDoesNotCompleteTheNextFetch() async throws {
    let phone = try store("phone", scope: .shared)
    try await phone.fetchChanges()
    let record = CKRecord(
      recordType: Note.recordType, recordID: CKRecord.ID(recordName: "a", zoneID: work))
    Note("a", "shared").copy(to: record)
    try phone.receive([record])
    let stopped = try #require(phone.state.withLock { $0.run?.engine })
    try phone.stop()
    try phone.start()
    phone.fetchEnded(of: stopped, missing: [])
    #expect(phone.items(Note.self).map(\.text) == ["shared"])
    // The next engine's own complete fetch has not found the zone.
    try await phone.fetchChanges()
    #expect(phone.items(Note.self) == [])
    try await phone.shutDown()
  }

  @Test(
    "What was deleted before an interrupted first fetch disappears when the fetch goes on",
    arguments: [false, true])
  func interruptedFirstFetchStillFindsDeletions(restarts: Bool) async throws {
    var limits = ServerLimits()
    limits.zoneChangesPage = 2
    server.controls.setLimits(limits)
    let folder = TemporaryFolder()
    let phone = try store("phone")
    var desk = try store("desk", in: folder)
    for number in 1...6 { try phone.save(Note("\(number)", "text")) }
    try await phone.sync()
    try await desk.sync()
    try desk.stop()
    try phone.delete(Note("6", "text"))
    try await phone.sync()
    try desk.start()
    let pages = RequestScope(kind: .fetchZoneChanges)
    server.controls.runAfterCommit(next: 1, in: pages) { _ in
      server.controls.fail(next: .max, with: .networkFailure, in: pages)
    }
    await #expect(throws: CKError.self) { try await desk.sync() }
    server.controls.clear()
    try desk.save(Note("7", "own"))
    try await desk.sendChanges()
    if restarts {
      try await desk.shutDown()
      desk = try store("desk", in: folder)
    }
    try await desk.sync()
    #expect(desk.items(Note.self).map(\.id) == ["1", "2", "3", "4", "5", "7"])
    #expect(desk.unsentRecordIDs == [])
    for store in [phone, desk] { try await store.shutDown() }
  }

  @Test("A save that found no zone is sent when another device has created the zone again")
  func failedSaveIsSentIntoANewZone() async throws {
    let phone = try store("phone")
    try phone.save(Note("a", "old"))
    try await phone.sync()
    _ = try await database.deleteRecordZone(withID: NoteDevice.zone)
    try phone.save(Note("b", "new"))
    await #expect(throws: CKError.self) { try await phone.sendChanges() }
    _ = try await database.save(CKRecordZone(zoneID: NoteDevice.zone))
    try await phone.fetchChanges()
    try await phone.sendChanges()
    #expect(phone.unsentRecordIDs == [] && phone.items(Note.self).map(\.id) == ["b"])
    let id = CKRecord.ID(recordName: "b", zoneID: NoteDevice.zone)
    #expect(try await database.record(for: id)["text"] == "new")
    try await phone.shutDown()
  }

  @Test("A read that begins anew because the token expired is no sign that items were deleted")
  func expiredTokenEndsNoRead() async throws {
    var limits = ServerLimits()
    limits.zoneChangesPage = 2
    server.controls.setLimits(limits)
    let (phone, desk) = (try store("phone"), try store("desk"))
    for number in 1...6 { try phone.save(Note("\(number)", "text")) }
    try await phone.sync()
    try await desk.sync()
    try desk.stop()
    try desk.save(Note("6", "edited", modified: 1))
    try desk.start()
    let pages = RequestScope(kind: .fetchZoneChanges)
    server.controls.runAfterCommit(next: 1, in: pages) { _ in
      server.controls.fail(next: .max, with: .networkFailure, in: pages)
    }
    await #expect(throws: CKError.self) { try await desk.fetchChanges() }
    server.controls.clear()
    try server.controls.expireTokens(container: NoteDevice.container, account: "anna")
    try server.controls.expireTokens(
      of: ZoneID(name: NoteDevice.zone.zoneName), container: NoteDevice.container, account: "anna")
    try await desk.sync()
    #expect(desk.items(Note.self).map(\.text) == Array(repeating: "text", count: 5) + ["edited"])
    try await phone.sync()
    #expect(phone.items(Note.self).map(\.text).sorted().first == "edited")
    for store in [phone, desk] { try await store.shutDown() }
  }

  @Test("A problem of a record stays when a record of its name or of its zone's is saved elsewhere")
  func problemsOfZonesAreKeptApart() async throws {
    let phone = try store("phone")
    try phone.save(Note("z", "text"))
    try await phone.sync()
    func refuse(_ name: String, in zone: CKRecordZone.ID) async throws {
      let scope = RequestScope(kind: .modifyRecords)
      server.controls.fail(with: .quotaExceeded, in: scope)
      try phone.save(Note(name, "too large"), in: zone)
      await #expect(throws: CKError.self) { try await phone.sendChanges() }
      server.controls.clear()
    }
    func problems() -> [String] { phone.status.activity.problems.map(\.name).sorted() }
    try await refuse("Work", in: NoteDevice.zone)
    #expect(problems() == ["Work"])
    // Its zone is saved, whose name is that of the record.
    try await refuse("a", in: work)
    #expect(problems() == ["Work", "a"])
    try phone.save(Note("a", "at home"))
    #expect(problems() == ["Work", "a"])
    try await phone.sendChanges()
    #expect(problems() == ["Work", "a"])
    #expect(phone.zoneIDs == [NoteDevice.zone, work])
    try phone.save(Note("a", "smaller"), in: work)
    #expect(problems() == ["Work"])
    try await phone.sync()
    #expect(problems() == [] && phone.unsentRecordIDs == [])
    try await refuse("b", in: work)
    #expect(problems() == ["b"])
    try await phone.deleteZone(work)
    #expect(problems() == [], "the record went with its zone")
    try await phone.shutDown()
  }
}
