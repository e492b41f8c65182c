import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore: items of another store of the app", .timeLimit(.minutes(20)))
struct ImportTests {
  let server = LoopbackServer()
  private let folder = TemporaryFolder()

  private func open(
    _ types: [SyncedType] = [SyncedType(Note.self, merging: Note.later)],
    _ importing: (inout SyncedStoreImport) throws -> Void
  ) throws -> SyncedStore {
    try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url, types: types, importing: importing)
  }

  /// The code of the error with which an import fails, after which there is no file.
  private func refusal(
    _ types: [SyncedType] = [SyncedType(Note.self, merging: Note.later)],
    _ importing: (inout SyncedStoreImport) throws -> Void
  ) -> SyncedStoreError.Code? {
    let error = #expect(throws: SyncedStoreError.self) { _ = try open(types, importing) }
    #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    return error?.code
  }

  @Test("Imported changes with system fields of an unknown account are sent and merged")
  func changesOfAnUnknownAccountAreMerged() async throws {
    let desk = try NoteDevice(server, "desk")
    for name in ["edited", "sent", "deleted", "edited and deleted"] {
      try desk.write(name, "of the desk")
    }
    try await desk.store.sync()
    let database = CKContainer(identifier: NoteDevice.container, transport: desk.link)
      .privateCloudDatabase
    let id = CKRecord.ID(recordName: "edited", zoneID: NoteDevice.zone)
    let fields = try await database.record(for: id).systemFields
    let phone = try open { content in
      for name in ["edited", "edited and deleted"] {
        try content.add(Note(name, "imported", modified: 2), systemFields: fields)
      }
      try content.add(Note("sent", "of the desk"), systemFields: fields, isUnsent: false)
      try content.addDeletion(of: Note.self, named: "deleted", systemFields: fields)
    }
    try phone.delete(Note("edited and deleted", ""))
    let link = server.device("phone", signedInAs: "anna")
    phone.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: link), automaticallySync: false)
    try phone.start()
    try await phone.sync()
    try await desk.store.sync()
    #expect(desk.texts == ["edited": "imported", "sent": "of the desk"])
    #expect(phone.items(Note.self).count == 2 && phone.status.unsentCount == 0)
    for store in [phone, desk.store] { try await store.shutDown() }
  }

  @Test("A state of the engine is not used without its account: a sign-out removes the items")
  func stateOfAnUnknownAccountIsNotUsed() async throws {
    let desk = try NoteDevice(server, "desk")
    try desk.write("a", "of anna")
    try await desk.store.sync()
    let database = CKContainer(identifier: NoteDevice.container, transport: desk.link)
      .privateCloudDatabase
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    let fields = try await database.record(for: id).systemFields
    try await desk.store.shutDown()
    let name = SyncedStore.FileNames().state
    let state = try Data(contentsOf: desk.folder.url.appendingPathComponent(name))
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    try state.write(to: folder.url.appendingPathComponent(name))
    let phone = try open { content in
      try content.add(
        Note("a", "of anna", modified: 1), systemFields: fields, isUnsent: false)
      content.takeOverState(state)
    }
    let link = server.device("phone", signedInAs: "anna")
    phone.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: link), automaticallySync: false)
    try phone.start()
    try await phone.sync()
    #expect(phone.items(Note.self).map(\.text) == ["of anna"])
    link.signOut()
    await #expect(throws: CKError.self) { try await phone.sync() }
    #expect(phone.items(Note.self).isEmpty)
    try await phone.shutDown()
  }

  @Test("An imported item of a type or with a name that the store does not take is refused")
  func importedItemsAreChecked() {
    for name in ["", "_a", "é", String(repeating: "a", count: 256)] {
      #expect(refusal { try $0.add(Note(name, "text")) } == .invalidName)
      #expect(refusal { try $0.addDeletion(of: Note.self, named: name) } == .invalidName)
    }
    #expect(refusal([]) { try $0.add(Note("a", "text")) } == .unknownType)
    #expect(refusal([]) { try $0.addDeletion(of: Note.self, named: "a") } == .unknownType)
  }

  @Test("Items are imported into a zone of their own, and sent there")
  func itemsAreImportedIntoAZone() async throws {
    let zone = CKRecordZone.ID(zoneName: "Archive")
    let types = [SyncedType(Note.self, merging: Note.later)]
    func store(
      _ name: String, _ folder: TemporaryFolder,
      _ importing: (inout SyncedStoreImport) throws -> Void = { _ in }
    ) throws -> SyncedStore {
      let store = try SyncedStore(
        zoneID: NoteDevice.zone, directory: folder.url, types: types, accepting: { _ in true },
        importing: importing)
      let link = server.device(name, signedInAs: "anna")
      store.connect(
        to: CKContainer(identifier: NoteDevice.container, transport: link),
        automaticallySync: false)
      try store.start()
      return store
    }
    let phone = try store("phone", folder) { content in
      try content.add(Note("a", "archived"), in: zone)
      try content.add(Note("a", "current"))
    }
    try await phone.sync()
    let other = TemporaryFolder()
    let desk = try store("desk", other)
    try await desk.sync()
    #expect(desk.item(Note.self, named: "a", in: zone)?.text == "archived")
    #expect(desk.item(Note.self, named: "a")?.text == "current")
    for store in [phone, desk] { try await store.shutDown() }
  }
}
