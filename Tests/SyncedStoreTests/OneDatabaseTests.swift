import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: one database and its start", .timeLimit(.minutes(20)))
struct OneDatabaseTests {
  let server = LoopbackServer()

  private func otherContainer(_ phone: NoteDevice) -> CKContainer {
    CKContainer(identifier: "iCloud.com.example.other", transport: phone.link)
  }

  /// Whether the account has no zones in the other container.
  private func otherIsEmpty(_ phone: NoteDevice) async throws -> Bool {
    try await otherContainer(phone).privateCloudDatabase.allRecordZones()
      .allSatisfy { $0.zoneID == .default }
  }

  @Test("A start with another container is refused while the store syncs")
  func otherContainerIsRefusedWhileRunning() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    let error = #expect(throws: SyncedStoreError.self) {
      try phone.store.start(otherContainer(phone))
    }
    #expect(error?.code == .otherDatabase)
    #expect(error?.message.contains(NoteDevice.container) == true)
    try phone.store.start(CKContainer(identifier: NoteDevice.container, transport: phone.link))
    try await phone.store.sync()
    #expect(phone.store.status.unsentCount == 0)
    #expect(try await otherIsEmpty(phone))
    try await phone.store.shutDown()
  }

  @Test("A store that syncs goes on with its database after a refused start with the shared one")
  func refusedDatabaseChangesNothing() async throws {
    let phone = try NoteDevice(server, "phone")
    phone.store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: phone.link), scope: .shared,
      automaticallySync: false)
    #expect(throws: SyncedStoreError.self) { try phone.store.start() }
    try phone.write("a", "text")
    try await phone.store.sync()
    #expect(phone.texts == ["a": "text"] && phone.store.status.unsentCount == 0)
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts == ["a": "text"])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A start with another container or database is refused after a stop, and in later launches")
  func otherContainerIsRefusedAfterStop() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "text")
    try await phone.store.sync()
    try phone.store.stop()
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    for store in [phone.store, again.store] {
      let error = #expect(throws: SyncedStoreError.self) { try store.start(otherContainer(phone)) }
      #expect(error?.code == .otherDatabase && !store.status.isRunning)
      store.connect(
        to: CKContainer(identifier: NoteDevice.container, transport: phone.link), scope: .shared,
        automaticallySync: false)
      #expect(throws: SyncedStoreError.self) { try store.start() }
      #expect(store.items(Note.self).map(\.text) == ["text"])
    }
    #expect(try await otherIsEmpty(phone))
    try again.start()
    try await again.store.sync()
    #expect(again.texts == ["a": "text"])
    try await again.store.shutDown()
  }

  @Test("Items that no account owns yet may go to another container")
  func itemsWithoutAccountMayGoElsewhere() async throws {
    let phone = try NoteDevice(server, "phone", account: nil)
    try phone.write("a", "text")
    try phone.store.stop()
    phone.link.signIn(as: "anna")
    phone.store.connect(to: otherContainer(phone), automaticallySync: false)
    try phone.store.start()
    try await phone.store.sync()
    #expect(phone.store.status.unsentCount == 0)
    #expect(try await !otherIsEmpty(phone))
    try await phone.store.shutDown()
  }

  @Test("A choice to sync that can't be carried out is not stored")
  func failedChoiceIsNotStored() throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    let error = #expect(throws: SyncedStoreError.self) { try phone.store.setEnabled(true) }
    #expect(error?.code == .notStarted && phone.store.isEnabled == nil)
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.store.isEnabled == nil)
    again.store.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: phone.link),
      automaticallySync: false)
    try again.store.setEnabled(true)
    #expect(again.store.isEnabled == true && again.store.status.isRunning)
    try again.store.stop()
  }
}
