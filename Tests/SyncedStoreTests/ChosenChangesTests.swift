import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: some changes sent, and not others", .timeLimit(.minutes(20)))
struct ChosenChangesTests {
  let server = LoopbackServer()

  private func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: NoteDevice.zone)
  }

  private var saves: Int { server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) }

  @Test("The chosen changes are one request, and other changes wait")
  func eachGroupIsOneRequest() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("old", "one")
    try await phone.store.sync()
    for name in ["a", "b", "c", "d"] { try phone.write(name, "text") }
    try phone.store.delete(Note("old", ""))
    #expect(phone.store.unsentRecordIDs == ["a", "b", "c", "d", "old"].map(id))
    server.controls.forgetRequests()
    for group in [[id("b"), id("a")], [id("unknown")], [id("d"), id("old")]] {
      try await phone.store.sendChanges(of: group)
    }
    #expect(saves == 2)
    #expect(phone.store.unsentRecordIDs == [id("c")])
    try await phone.store.sendChanges(of: [])
    #expect(saves == 2 && phone.store.isUnsent("c"))
    // Without groups everything is sent, as before.
    try await phone.store.sendChanges()
    #expect(saves == 3 && phone.store.status.unsentCount == 0)
  }

  @Test("Too many changes for one request are sent in several, and all of them")
  func largeGroupIsSentInSeveral() async throws {
    let phone = try NoteDevice(server, "phone")
    try await phone.store.sync()
    try phone.store.change { change in
      for number in 0..<600 { try change.save(Note("\(number)", "text")) }
    }
    server.controls.forgetRequests()
    try await phone.store.sendChanges(of: phone.store.unsentRecordIDs)
    #expect(saves == 3 && phone.store.status.unsentCount == 0)
  }

  @Test("The error of a send names each refused change, which is sent again when it is asked for")
  func errorNamesEachRefusedChange() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "one")
    try phone.write("b", "two")
    try server.controls.setQuota(1, of: "anna")
    let error = try await #require(throws: CKError.self) {
      try await phone.store.sendChanges(of: [id("a"), id("b")])
    }
    #expect(error.code == .partialFailure)
    let items = try #require(error.partialErrorsByItemID)
    #expect(Set(items.keys) == [AnyHashable(id("a")), AnyHashable(id("b"))])
    #expect(items.values.allSatisfy { ($0 as? CKError)?.code == .quotaExceeded })
    #expect(phone.store.status.activity.problems.map(\.code) == [.quotaExceeded, .quotaExceeded])
    try server.controls.setQuota(nil, of: "anna")
    // Nothing is pending after a refusal; a group asks for another attempt.
    try await phone.store.sendChanges()
    #expect(phone.store.status.unsentCount == 2)
    try await phone.store.sendChanges(of: [id("b")])
    #expect(phone.store.unsentRecordIDs == [id("a")])
  }

  @Test("The zone is created without an item if that is asked for, and its status says so")
  func zoneIsCreatedOnRequest() async throws {
    let phone = try NoteDevice(server, "phone")
    var updates = phone.store.statusUpdates.makeAsyncIterator()
    #expect(!phone.store.status.hasZone && phone.store.status.account == nil)
    try await phone.store.sendChanges(of: [])
    #expect(!phone.store.status.hasZone)
    try await phone.store.sendChanges(of: [], creatingZone: true)
    #expect(phone.store.status.hasZone && phone.store.status.account != nil)
    #expect(await updates.next()?.hasZone == true, "an older status was kept")
    let requests = RequestScope(kind: .modifyZones)
    #expect(server.controls.requestCount(in: requests) == 1)
    try await phone.store.sendChanges(of: [], creatingZone: true)
    #expect(server.controls.requestCount(in: requests) == 1)
  }
}
