import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

/// A policy that follows deletions must not take the device's own for another device's.
@Suite("SyncedStore: items that are created again", .timeLimit(.minutes(20)))
struct CreatedAgainTests {
  private let server = LoopbackServer()
  private static let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)

  /// A device that deleted its item on the server, created it again and fetched nothing since.
  private func phoneWithItemCreatedAgain() async throws -> NoteDevice {
    let phone = try NoteDevice(server, "phone", merging: .serverWins)
    try phone.write("a", "one")
    try await phone.store.sync()
    try phone.store.delete(Note("a", ""))
    try await phone.store.sendChanges()
    try phone.write("a", "two")
    return phone
  }

  @Test(
    "A deletion by this device that is fetched later leaves the item that was created again",
    arguments: [false, true])
  func ownDeletionLeavesTheNewItem(isHandedOver: Bool) async throws {
    let phone = try await phoneWithItemCreatedAgain()
    if isHandedOver {
      phone.link.isOnline = false
      await #expect(throws: CKError.self) { try await phone.store.sendChanges() }
      phone.link.isOnline = true
    }
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(phone.texts == ["a": "two"] && desk.texts == phone.texts)
    #expect(phone.store.status.activity.conflicts == [])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A deletion by another device is followed also after one by this device was")
  func laterDeletionIsFollowed() async throws {
    let phone = try await phoneWithItemCreatedAgain()
    let desk = try NoteDevice(server, "desk", merging: .serverWins)
    for device in [phone, desk] { try await device.store.sync() }
    try desk.store.delete(Note("a", ""))
    try await desk.store.sync()
    try phone.write("a", "edit", 2)
    try await phone.store.sync()
    #expect(phone.texts == [:])
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.serverWon])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("An item that is created again while its deletion is sent is not known to the server")
  func itemOfARunningDeletionIsNew() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "one")
    try await phone.store.sync()
    try phone.store.delete(Note("a", ""))
    try phone.write("a", "two")
    phone.store.state.withLock { $0.table.takeDeleted(Self.id) }
    #expect(phone.store.isUnsent("a"))
    try phone.store.delete(Note("a", ""))
    #expect(phone.store.status.unsentCount == 0, "there is nothing to delete")
    try await phone.store.shutDown()
  }

  @Test("The deletions by this device are forgotten with the account and with their zone")
  func ownDeletionsAreForgotten() {
    let ends: [(inout ItemTable) -> Void] = [{ $0.wipe() }, { $0.removeZone(NoteDevice.zone) }]
    for end in ends {
      var table = ItemTable(
        types: [SyncedType(Note.self, merging: .serverWins)], zone: NoteDevice.zone,
        accepting: { _ in true }, recreating: { _ in true })
      table.takeDeleted(Self.id)
      #expect(table.ownDeletions == [Self.id])
      end(&table)
      #expect(table.ownDeletions.isEmpty)
    }
  }
}
