import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackHTTP
import LoopbackServer
import Synchronization
import Testing

// The examples of the documentation catalogues and of pages in Docs, with the names that they use.
// A rule compares them with the pages.

/// An app whose notes are called as their text.
private final class App: CKSyncEngineDelegate {
  private let state = Mutex<CKSyncEngine.State.Serialization?>(nil)

  var savedState: CKSyncEngine.State.Serialization? { state.withLock { $0 } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    if case .stateUpdate(let update) = event { state.withLock { $0 = update.stateSerialization } }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: syncEngine.state.pendingRecordZoneChanges
    ) { id in
      let record = CKRecord(recordType: "Note", recordID: id)
      record["text"] = id.recordName
      return record
    }
  }
}

private func phone(of server: LoopbackServer = LoopbackServer()) -> CKContainer {
  CKContainer(identifier: "iCloud.example", transport: server.device("phone", signedInAs: "alice"))
}

/// Proves X11.
@Test func anEngineSendsWhatWasAdded() async throws {
  let container = phone()
  let app = App()
  var configuration = CKSyncEngine.Configuration(
    database: container.privateCloudDatabase, stateSerialization: app.savedState, delegate: app)
  configuration.automaticallySync = false
  let engine = CKSyncEngine(configuration)

  let zone = CKRecordZone(zoneName: "Notes")
  let recordID = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)
  engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
  engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
  try await engine.sendChanges()
  #expect(engine.state.pendingRecordZoneChanges.isEmpty)
  #expect(try await container.privateCloudDatabase.record(for: recordID)["text"] == "shopping")
}

@Test func aStateStoreKeepsWhatWasAdded() throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "documented-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(CKRecord.ID(recordName: "shopping"))
  func launch(_ use: (CKSyncEngine) -> Void) throws {
    var configuration = CKSyncEngine.Configuration(
      database: phone().privateCloudDatabase, stateSerialization: nil, delegate: App())
    configuration.automaticallySync = false
    configuration.stateStore = try FileStateStore(url: folder.appending(path: "engine-state"))
    let engine = CKSyncEngine(configuration)
    use(engine)
  }
  try launch { $0.state.add(pendingRecordZoneChanges: [change]) }
  try launch { #expect($0.state.pendingRecordZoneChanges == [change]) }
}

@Test func aServerIsUsedByTwoDevices() async throws {
  let server = LoopbackServer()
  let phone = CKContainer(
    identifier: "iCloud.example", transport: server.device("phone", signedInAs: "alice"))
  let tablet = CKContainer(
    identifier: "iCloud.example", transport: server.device("tablet", signedInAs: "alice"))
  let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "shopping"))
  server.controls.fail(next: 1, with: .serviceUnavailable, retryAfter: 1)
  await #expect(throws: CKError.self) { try await phone.privateCloudDatabase.save(record) }
  try await phone.privateCloudDatabase.save(record)
  #expect(
    try await tablet.privateCloudDatabase.record(for: record.recordID).recordType == "Note")
}

/// The files of an app, which creates its containers itself.
private struct AppSync {
  let container = CKContainer.default()
}

@Test func anAppFindsItsServerInTheEnvironment() async throws {
  let server = LoopbackServer()
  func device(_ name: String) -> CloudSyncEnvironment {
    CloudSyncEnvironment { _ in server.device(name, signedInAs: "alice") }
  }
  let phone = CloudSyncEnvironment.$current.withValue(device("phone")) { AppSync() }
  let tablet = CloudSyncEnvironment.$current.withValue(device("tablet")) { AppSync() }
  server.controls.fail(next: 3, with: .serviceUnavailable, retryAfter: 1)
  for _ in 1...3 {
    await #expect(throws: CKError.self) { try await phone.container.userRecordID() }
  }
  #expect(try await phone.container.userRecordID() == tablet.container.userRecordID())
}

@Test func aTracerWritesLines() async throws {
  let file = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID()).jsonl")
  defer { try? FileManager.default.removeItem(at: file) }
  var configuration = CKSyncEngine.Configuration(
    database: phone().privateCloudDatabase, stateSerialization: nil, delegate: App())
  configuration.automaticallySync = false
  configuration.tracer = try JSONLinesTracer(url: file)
  try await CKSyncEngine(configuration).fetchChanges()
  #expect(try String(contentsOf: file, encoding: .utf8).contains("\n"))
}

@Test func aContainerUsesWebServices() {
  let (apiToken, webAuthToken) = ("token", "session")
  let transport = WebServicesTransport(apiToken: apiToken, webAuthToken: webAuthToken)
  let container = CKContainer(
    identifier: "iCloud.com.example.notes", transport: transport, environment: .production)
  #expect(container.containerIdentifier == "iCloud.com.example.notes")
}

@Test func aServerIsServedOverHTTP() async throws {
  let server = SimulatedCloud().server
  let web = try LoopbackWebServer(server)
  let transport = WebServicesTransport(
    url: URL(string: web.url), apiToken: web.apiToken(),
    webAuthToken: try web.webAuthToken(for: "alice"))
  let overHTTP = CKContainer(identifier: "iCloud.example", transport: transport)
  let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "shopping"))
  try await overHTTP.privateCloudDatabase.save(record)
  let inProcess = phone(of: server)
  #expect(
    try await inProcess.privateCloudDatabase.record(for: record.recordID).recordType == "Note")
  await web.stop()
}
