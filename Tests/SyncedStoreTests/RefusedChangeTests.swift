import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import SyncedStore

@Suite("SyncedStore: changes that the server refuses", .timeLimit(.minutes(20)))
struct RefusedChangeTests {
  let server = LoopbackServer()
  private let folder = TemporaryFolder()

  /// The store of a guest who may read the zone of the phone, which has an item.
  private func guest(of phone: NoteDevice) async throws -> SyncedStore {
    try phone.write("a", "owner 1")
    let share = try await phone.store.share { $0.publicPermission = .readOnly }
    let link = server.device("tablet", signedInAs: "ben")
    let container = CKContainer(identifier: NoteDevice.container, transport: link)
    let zone = try await SyncedStore.accept(try #require(share.url), in: container)
    let store = try SyncedStore(
      zoneID: zone, directory: folder.url, types: [SyncedType(Note.self, merging: Note.later)])
    store.connect(to: container, scope: .shared, automaticallySync: false)
    try store.start()
    try await store.sync()
    return store
  }

  private func refusedSync(_ store: SyncedStore) async {
    await #expect(throws: (any Error).self) { try await store.sync() }
    #expect(store.status.activity.problems.contains { $0.code == .permissionFailure })
  }

  /// An owner's device, and a guest's store with an edit that the server has refused.
  private func refusedEdit() async throws -> (NoteDevice, SyncedStore) {
    let phone = try NoteDevice(server, "phone")
    let guest = try await guest(of: phone)
    try guest.save(Note("a", "guest", modified: 3))
    await refusedSync(guest)
    return (phone, guest)
  }

  @Test("A refused edit, deletion and new item can be given up for the server's version")
  func refusedChangesAreGivenUp() async throws {
    let (phone, guest) = try await refusedEdit()
    try phone.write("a", "owner 2", 2)
    try await phone.store.sync()
    await refusedSync(guest)
    #expect(guest.items(Note.self).map(\.text) == ["guest"])
    var changes = guest.changes.makeAsyncIterator()
    try await guest.revert(Note.self, named: "a")
    #expect(guest.items(Note.self).map(\.text) == ["owner 2"])
    #expect(guest.status.unsentCount == 0 && guest.status.activity.problems == [])
    #expect(await changes.next()?.kind == .saved)
    try await guest.sync()

    try guest.delete(Note("a", ""))
    try guest.save(Note("b", "new"))
    await refusedSync(guest)
    #expect(guest.items(Note.self).map(\.id) == ["b"])
    for name in ["a", "b", "never saved"] { try await guest.revert(Note.self, named: name) }
    #expect(guest.items(Note.self).map(\.text) == ["owner 2"])
    try await guest.sync()
    try phone.write("a", "owner 3", 3)
    try await phone.store.sync()
    try await guest.sync()
    #expect(guest.items(Note.self).map(\.text) == ["owner 3"])
    for store in [phone.store, guest] { try await store.shutDown() }
  }

  @Test("A change that is taken back keeps the report of a refusal")
  func rolledBackChangeLeavesTheRefusal() async throws {
    let (phone, guest) = try await refusedEdit()
    #expect(throws: CKError.self) {
      try guest.change { change in
        try change.save(Note("a", "again", modified: 4))
        change.delete(Note.self, named: "a")
        throw CKError(.internalError)
      }
    }
    #expect(guest.items(Note.self).map(\.text) == ["guest"])
    #expect(guest.status.activity.problems.map(\.code) == [.permissionFailure])
    for store in [phone.store, guest] { try await store.shutDown() }
  }

  @Test("A save of the server's version settles a refused change")
  func serversVersionSettles() async throws {
    let (phone, guest) = try await refusedEdit()
    try guest.save(Note("a", "owner 1", modified: 1))
    #expect(guest.status.unsentCount == 0)
    try await guest.sync()
    for store in [phone.store, guest] { try await store.shutDown() }
  }

  @Test("A save of the server's version is sent while an earlier one may be on the server")
  func serversVersionIsSentAfterALostAnswer() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "base")
    try await phone.store.sync()
    try phone.write("a", "edit", 2)
    server.controls.dropAnswers(in: RequestScope(kind: .modifyRecords))
    try? await phone.store.sendChanges()
    try phone.write("a", "base")
    #expect(phone.store.status.unsentCount == 1)
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts == ["a": "base"])
    for device in [phone, desk] { try await device.store.shutDown() }
  }

  @Test("A change that is made while another is given up stays, and so does all without a network")
  func changeDuringRevertStays() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "base")
    try await phone.store.sync()
    try phone.write("a", "given up", 2)
    phone.link.isOnline = false
    await #expect(throws: CKError.self) {
      try await phone.store.revert(Note.self, named: "a")
    }
    #expect(phone.texts == ["a": "given up"] && phone.store.status.unsentCount == 1)
    phone.link.isOnline = true
    let fetch = RequestScope(kind: .fetchRecords)
    server.controls.hold(next: 1, in: fetch)
    async let reverted: Void = phone.store.revert(Note.self, named: "a")
    await server.controls.waitForHeldRequests(in: fetch)
    try phone.write("a", "newer", 3)
    server.controls.release(in: fetch)
    try await reverted
    #expect(phone.texts == ["a": "newer"] && phone.store.status.unsentCount == 1)
    try await phone.store.shutDown()
  }

  @Test("A deletion that was given up is not sent, though a stored state of the engine lists it")
  func deletionInAnOldStateIsNotSent() async throws {
    let folder = TemporaryFolder()
    let file = folder.url.appendingPathComponent(SyncedStore.FileNames().state)
    let state: Data
    do {
      let phone = try NoteDevice(server, "phone", folder: folder)
      try phone.write("a", "base")
      try await phone.store.sync()
      try phone.store.delete(Note("a", ""))
      // A fetch stores the engine's state, in which the deletion is pending.
      try await phone.store.fetchChanges()
      state = try Data(contentsOf: file)
      try await phone.store.revert(Note.self, named: "a")
      #expect(phone.texts == ["a": "base"] && phone.store.status.unsentCount == 0)
      // The app is killed before it has stored the next state.
    }
    try state.write(to: file)
    let phone = try NoteDevice(server, "phone", folder: folder)
    var listed: [CKSyncEngine.PendingRecordZoneChange]? {
      phone.store.state.withLock { $0.run?.pending.pendingRecordZoneChanges }
    }
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    #expect(listed == [.deleteRecord(id)])
    server.controls.forgetRequests()
    try await phone.store.sync()
    #expect(server.controls.requestCount(in: RequestScope(kind: .modifyRecords)) == 0)
    #expect(phone.texts == ["a": "base"] && listed == [])
    try await phone.store.shutDown()
  }
}
