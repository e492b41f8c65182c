import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackHTTP
import LoopbackServer
import SyncedStore
import Synchronization
import Testing

// The examples of doc comments, with the names that they use. A rule compares them with the
// comments.

private let zone = CKRecordZone(zoneName: "Notes")

private func temporaryURL() -> URL {
  FileManager.default.temporaryDirectory.appending(path: "example-\(UUID())")
}

private func transport() -> LoopbackDevice {
  LoopbackServer().device("phone", signedInAs: "alice")
}

/// The storage of an app, in memory.
final class NotesStorage: Sendable {
  private let records = Mutex<[CKRecord.ID: CKRecord]>([:])
  private let unsent = Mutex<[CKRecord.ID: CKError]>([:])
  private let state = Mutex<CKSyncEngine.State.Serialization?>(nil)

  var savedState: CKSyncEngine.State.Serialization? { state.withLock { $0 } }
  var failures: [CKRecord.ID: CKError] { unsent.withLock { $0 } }

  func record(_ id: CKRecord.ID) -> CKRecord? { records.withLock { $0[id] } }
  func save(_ record: CKRecord) { records.withLock { $0[record.recordID] = record } }
  func remove(_ id: CKRecord.ID) { records.withLock { $0[id] = nil } }
  func save(_ serialization: CKSyncEngine.State.Serialization) {
    state.withLock { $0 = serialization }
  }
  func keepUnsent(_ record: CKRecord, because error: CKError) {
    unsent.withLock { $0[record.recordID] = error }
  }
}

final class NotesSync: CKSyncEngineDelegate {
  let storage: NotesStorage  // of the app; each call returns after the data is on the disk

  init(_ storage: NotesStorage) { self.storage = storage }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .stateUpdate(let update):
      storage.save(update.stateSerialization)
    case .fetchedRecordZoneChanges(let changes):
      for change in changes.modifications { storage.save(change.record) }
      for change in changes.deletions { storage.remove(change.recordID) }
    case .sentRecordZoneChanges(let changes):
      for record in changes.savedRecords { storage.save(record) }
      for failure in changes.failedRecordSaves {
        storage.keepUnsent(failure.record, because: failure.error)
      }
    default:
      break  // also handle accountChange and fetchedDatabaseChanges
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges
    return await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: pending.filter { context.options.scope.contains($0) }
    ) { id in storage.record(id) }
  }
}

@Test func aDelegateSyncsTwoDevices() async throws {
  let server = LoopbackServer()
  func engine(_ device: String, _ delegate: NotesSync) -> CKSyncEngine {
    let container = CKContainer(
      identifier: "iCloud.example", transport: server.device(device, signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    return CKSyncEngine(configuration)
  }
  let (phone, tablet) = (NotesSync(NotesStorage()), NotesSync(NotesStorage()))
  let note = CKRecord(
    recordType: "Note", recordID: CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID))
  phone.storage.save(note)
  let sending = engine("phone", phone)
  sending.state.add(pendingDatabaseChanges: [.saveZone(zone)])
  sending.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
  try await sending.sendChanges()
  #expect(phone.storage.record(note.recordID)?.recordChangeTag != nil)
  #expect(phone.storage.savedState != nil && phone.storage.failures.isEmpty)

  try await engine("tablet", tablet).fetchChanges()
  #expect(tablet.storage.record(note.recordID)?.recordType == "Note")
  sending.state.add(pendingRecordZoneChanges: [.deleteRecord(note.recordID)])
  try await sending.sendChanges()
  #expect(sending.state.pendingRecordZoneChanges.isEmpty)
}

@Test func aRecorderListsEvents() async throws {
  let notes = NotesSync(NotesStorage())
  let database = CKContainer(identifier: "iCloud.example", transport: transport())
    .privateCloudDatabase
  let recorder = EventRecorder(notes)
  let engine = CKSyncEngine(
    .init(database: database, stateSerialization: nil, delegate: recorder))
  try await engine.fetchChanges()
  #expect(!recorder.events.snapshotText.isEmpty)
}

@Test func aStateIsComparedWithALiteral() throws {
  let container = CKContainer(identifier: "iCloud.example", transport: transport())
  let delegate = NotesSync(NotesStorage())
  var configuration = CKSyncEngine.Configuration(
    database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
  configuration.automaticallySync = false
  let engine = CKSyncEngine(configuration)
  let id = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
  engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
  engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
  try assertSnapshot(
    of: engine.state,
    matches: """
      save zone Notes
      save Notes/shopping
      """)
}

@Test(arguments: StorageCheck.all)
func theStorageKeepsTheRule(_ check: StorageCheck) throws {
  let suite = StorageConformance("memory", lifetime: .storage) {
    { identity in MemoryStorage(identity: identity) }
  }
  try suite.run(check)
}

@Test func aSessionIsRecorded() async throws {
  let url = temporaryURL()
  defer { try? FileManager.default.removeItem(at: url) }
  let transport = transport()
  let recorder = try SessionRecorder(transport, file: url)
  let container = CKContainer(identifier: "iCloud.com.example.app", transport: recorder)
  _ = try await container.privateCloudDatabase.allRecordZones()
  try recorder.finish()
}

@Test func aServerIsCreated() async throws {
  do {
    let server = LoopbackServer()
    let phone = server.device("phone", signedInAs: "alice")
    let container = CKContainer(identifier: "iCloud.com.example.notes", transport: phone)
    #expect(try await container.accountStatus() == .available)
  }
  let server = try LoopbackServer(storage: MemoryStorage(identity: 7))
  server.close()
}

@Test func aServerIsReachedOverHTTP() async throws {
  let server = LoopbackServer()
  let web = try LoopbackWebServer(server)
  print(web.url, web.apiToken(), try web.webAuthToken(for: "alice"))
  await web.stop()
}

@Test func aTransportNamesItsServer() {
  let (api, web) = ("api", "web")
  let transport = WebServicesTransport(
    url: URL(string: "http://127.0.0.1:8080"), apiToken: api, webAuthToken: web, device: "phone")
  let container = CKContainer(identifier: "iCloud.com.example.notes", transport: transport)
  #expect(container.containerIdentifier == "iCloud.com.example.notes")
}

/// The files of an app, which creates its containers itself.
private struct AppSync {
  func sync() async throws { _ = try await CKContainer.default().userRecordID() }
}

@Test func anAppSyncsInAnEnvironment() async throws {
  let server = LoopbackServer()
  let tablet = CloudSyncEnvironment { _ in server.device("tablet", signedInAs: "alice") }
  try await CloudSyncEnvironment.$current.withValue(tablet) { try await AppSync().sync() }
}

@Test func aNoteIsStoredAndSynced() async throws {
  let folder = temporaryURL()
  defer { try? FileManager.default.removeItem(at: folder) }
  let container = CKContainer(identifier: "iCloud.example", transport: transport())
  let store = try SyncedStore(
    zoneID: CKRecordZone.ID(zoneName: "Notes"), directory: folder,
    types: [SyncedType(Note.self, merging: .laterWins { $0.modified })])
  try store.start(container)
  try store.save(Note("Bread, milk"))
  #expect(store.items(Note.self).map(\.text) == ["Bread, milk"])
  try await store.shutDown()
}
