import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: edits of the current version", .timeLimit(.minutes(20)))
struct EditTests {
  let server = LoopbackServer()

  @Test("An edit changes the item as it is then, and stores nothing if there is none")
  func editChangesTheCurrentItem() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.store.save(Note("a", "text", modified: 1))
    for device in [phone, desk] { try await device.store.sync() }
    try desk.store.save(Note("a", "text", title: "title of the desk", modified: 2))
    for device in [desk, phone] { try await device.store.sync() }
    let exists = try phone.store.edit(Note.self, named: "a") { note in
      note.text = "text of the phone"
      note.modified += 1
    }
    #expect(exists)
    for device in [phone, desk] { try await device.store.sync() }
    let expected = Note("a", "text of the phone", title: "title of the desk", modified: 3)
    #expect(phone.store.items() == [expected] && desk.store.items() == [expected])
    #expect(try !phone.store.edit(Note.self, named: "b") { $0.text = "never called" })
    #expect(phone.texts.count == 1 && phone.store.status.unsentCount == 0)
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("An edit that throws or that gives the item another name changes nothing")
  func refusedEditChangesNothing() throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    try phone.write("a", "text")
    #expect(throws: CKError.self) {
      try phone.store.edit(Note.self, named: "a") { note in
        note.text = "other"
        throw CKError(.internalError)
      }
    }
    let error = #expect(throws: SyncedStoreError.self) {
      try phone.store.edit(Note.self, named: "a") { $0 = Note("b", "other") }
    }
    #expect(error?.code == .invalidName && phone.texts == ["a": "text"])
  }
}
