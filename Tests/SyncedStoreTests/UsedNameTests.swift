import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

/// An errand, whose record may have the name of a note.
private struct Errand: SyncedItem {
  static let recordType: CKRecord.RecordType = "Errand"

  let recordName: String
  var isDone = false

  init(_ name: String) { recordName = name }

  init?(_ record: CKRecord) {
    guard let isDone = record["isDone"] as? Bool else { return nil }
    recordName = record.recordID.recordName
    self.isDone = isDone
  }

  func copy(to record: CKRecord) { record["isDone"] = isDone }
}

@Suite("SyncedStore: one name for items of two types", .timeLimit(.minutes(20)))
struct UsedNameTests {
  private let server = LoopbackServer()

  private func store(
    _ name: String, in folder: TemporaryFolder = TemporaryFolder(),
    merging policy: MergePolicy<Note> = Note.later
  ) throws -> SyncedStore {
    let store = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url,
      types: [
        SyncedType(Note.self, merging: policy), SyncedType(Errand.self, merging: .serverWins),
      ])
    let link = server.device(name, signedInAs: "anna")
    store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: link), automaticallySync: false)
    try store.start()
    return store
  }

  @Test("The name of an item can't be used for one of another type before its deletion is sent")
  func usedNameIsRefused() async throws {
    let phone = try store("phone")
    try phone.save(Note("x", "text"))
    for isDeleted in [false, true] {
      #expect { try phone.save(Errand("x")) } throws: { error in
        (error as? SyncedStoreError)?.code == .usedName
      }
      #expect(phone.items(Note.self).count == (isDeleted ? 0 : 1))
      try await phone.sync()
      if !isDeleted { try phone.delete(Note("x", "")) }
    }
    try phone.save(Errand("x"))
    try await phone.sync()
    #expect(phone.items(Errand.self).map(\.recordName) == ["x"] && phone.items(Note.self).isEmpty)
    #expect(phone.unsentRecordIDs.isEmpty)
    try await phone.shutDown()
  }

  @Test("A deletion and a revert of an item of another type leave the item that has the name")
  func itemOfAnotherTypeStays() async throws {
    let phone = try store("phone")
    try phone.save(Note("x", "text"))
    try await phone.sync()
    try phone.delete(Errand("x"))
    #expect(phone.items(Note.self).map(\.text) == ["text"] && phone.unsentRecordIDs.isEmpty)
    try phone.save(Note("x", "edited", modified: 2))
    try await phone.revert(Errand.self, named: "x")
    #expect(phone.items(Note.self).map(\.text) == ["edited"] && phone.unsentRecordIDs.count == 1)
    try await phone.sync()
    let desk = try store("desk")
    try await desk.sync()
    #expect(desk.items(Note.self).map(\.text) == ["edited"])
    for store in [phone, desk] { try await store.shutDown() }
  }

  @Test(
    "A name that another device used again is that of the new item, also if the old one was edited",
    arguments: [false, true])
  func nameUsedAgainByAnotherDevice(isEdited: Bool) async throws {
    let folder = TemporaryFolder()
    let phone = try store("phone")
    do {
      let desk = try store("desk", in: folder, merging: .clientWins)
      try phone.save(Note("x", "text"))
      try await phone.sync()
      try await desk.sync()
      try phone.delete(Note("x", ""))
      try await phone.sync()
      try phone.save(Errand("x"))
      try await phone.sync()
      if isEdited { try desk.save(Note("x", "edited", modified: 9)) }
      try await desk.sync()
      #expect(desk.items(Note.self).isEmpty && desk.items(Errand.self).map(\.recordName) == ["x"])
      #expect(desk.unsentRecordIDs.isEmpty)
      #expect(desk.status.activity.conflicts.map(\.resolution) == (isEdited ? [.serverWon] : []))
      try await desk.shutDown()
    }
    let again = try store("desk", in: folder)
    #expect(again.items(Errand.self).count == 1)
    var errand = try #require(again.items(Errand.self).first)
    errand.isDone = true
    try again.save(errand)
    try await again.sync()
    try await phone.sync()
    #expect(phone.items(Errand.self).map(\.isDone) == [true])
    for store in [phone, again] { try await store.shutDown() }
  }
}
