import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// A delegate that keeps records by name and writes down the kinds of events.
final class Recorder: CKSyncEngineDelegate {
  struct Contents {
    var texts: [String: String] = [:]
    var events: [String] = []
    var refusals: [String] = []
    /// The names of all records that were fetched, one for each time.
    var names: [String] = []
    var state: CKSyncEngine.State.Serialization?
  }

  let contents = Mutex(Contents())
  let reenters: Bool

  init(reenters: Bool = false) { self.reenters = reenters }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    if reenters, case .willFetchChanges = event {
      do { try await syncEngine.sendChanges() } catch {
        contents.withLock { $0.refusals.append("\(error)") }
      }
      await syncEngine.cancelOperations()
    }
    contents.withLock { contents in
      contents.events.append(String(describing: event).prefix { $0 != "(" }.description)
      switch event {
      case .stateUpdate(let update): contents.state = update.stateSerialization
      case .fetchedRecordZoneChanges(let changes):
        contents.names += changes.modifications.map(\.record.recordID.recordName)
        for change in changes.modifications {
          contents.texts[change.record.recordID.recordName] = change.record["text"] as? String
        }
        for deletion in changes.deletions { contents.texts[deletion.recordID.recordName] = nil }
      default: break
      }
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let record = CKRecord(recordType: "Note", recordID: id)
      record["text"] = self.contents.withLock { $0.texts[id.recordName] }
      return record
    }
  }
}

@Suite("The engine over the server in process")
struct EngineTests {
  static let zone = CKRecordZone(zoneName: "Notes")

  static func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone.zoneID)
  }

  static func configuration(
    _ server: LoopbackServer, _ device: String, _ delegate: Recorder
  ) -> CKSyncEngine.Configuration {
    let container = CKContainer(
      identifier: "iCloud.test", transport: server.device(device, signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    return configuration
  }

  private static func temporaryFile() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)")
  }

  private static func remove(_ file: URL) {
    for name in ["", ".lock", ".new"] {
      try? FileManager.default.removeItem(atPath: file.path + name)
    }
  }

  /// Proves CE-22, CE-99, FB-3.
  @Test("444 records through one sendChanges arrive on the other device")
  func manyRecordsArriveThroughOneSend() async throws {
    let server = LoopbackServer()
    let (writer, reader) = (Recorder(), Recorder())
    let names = (0..<444).map { "n\($0)" }
    writer.contents.withLock { contents in for name in names { contents.texts[name] = name } }
    let phone = CKSyncEngine(EngineTests.configuration(server, "phone", writer))
    phone.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    phone.state.add(pendingRecordZoneChanges: names.map { .saveRecord(EngineTests.id($0)) })
    try await phone.sendChanges()
    #expect(phone.state.pendingRecordZoneChanges.isEmpty)
    let laptop = CKSyncEngine(EngineTests.configuration(server, "laptop", reader))
    try await laptop.fetchChanges()
    let read = reader.contents.withLock { $0.texts }
    #expect(read.count == 444 && read.allSatisfy { $0.key == $0.value })
    let first = reader.contents.withLock { $0.events.first }
    #expect(
      first == "accountChange" || first == "AccountChange" || first?.contains("ccount") == true)
  }

  @Test("The error of a send has the records of a conflict, as the event has")
  func thrownConflictHasItsRecords() async throws {
    let server = LoopbackServer()
    var thrown: CKError?
    for device in ["phone", "laptop"] {
      let delegate = Recorder()
      delegate.contents.withLock { $0.texts["n"] = device }
      let engine = CKSyncEngine(EngineTests.configuration(server, device, delegate))
      engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("n"))])
      do { try await engine.sendChanges() } catch { thrown = error as? CKError }
      withExtendedLifetime((engine, delegate)) {}
    }
    #expect(thrown?.code == .partialFailure)
    let item = thrown?.partialErrorsByItemID?[EngineTests.id("n")] as? CKError
    #expect(item?.code == .serverRecordChanged)
    #expect(item?.serverRecord?["text"] == "phone" && item?.clientRecord?["text"] == "laptop")
  }

  /// Proves CE-14.
  @Test("A call from inside a callback is refused with a message and does not hang")
  func callInsideCallbackIsRefused() async throws {
    let server = LoopbackServer()
    let delegate = Recorder(reenters: true)
    let engine = CKSyncEngine(EngineTests.configuration(server, "phone", delegate))
    do {
      try await engine.fetchChanges()
    } catch CKError.operationCancelled {
      // The callback cancelled the fetch that it was called for.
    }
    let refusals = delegate.contents.withLock { $0.refusals }
    #expect(refusals.count == 1 && refusals[0].contains("inside a delegate callback"))
  }

  /// Proves CE-86, FB-1, I3.
  @Test("An added change is stored when the call returns; an engine that dies loses nothing")
  func addedChangeIsDurableOnReturn() async throws {
    let file = EngineTests.temporaryFile()
    defer { EngineTests.remove(file) }
    let server = LoopbackServer()
    let delegate = Recorder()
    delegate.contents.withLock { $0.texts["a"] = "kept" }
    do {
      var configuration = EngineTests.configuration(server, "phone", delegate)
      configuration.stateStore = try FileStateStore(url: file)
      let engine = CKSyncEngine(configuration)
      engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("a"))])
    }
    // What a kill at this moment leaves is the file as it is.
    let copy = EngineTests.temporaryFile()
    defer { EngineTests.remove(copy) }
    try FileManager.default.copyItem(at: file, to: copy)
    var configuration = EngineTests.configuration(server, "phone", delegate)
    configuration.stateStore = try FileStateStore(url: copy)
    let engine = CKSyncEngine(configuration)
    #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(EngineTests.id("a"))])
    try await engine.sendChanges()
    #expect(engine.state.pendingRecordZoneChanges.isEmpty && engine.stateStoreError == nil)
  }

  /// Proves CE-8, E3.
  @Test("A state survives JSON and property lists, is readable as text and refuses damage")
  func stateSurvivesSerializationFormats() async throws {
    let server = LoopbackServer()
    let delegate = Recorder()
    let engine = CKSyncEngine(EngineTests.configuration(server, "phone", delegate))
    engine.state.add(pendingRecordZoneChanges: [.deleteRecord(EngineTests.id("x"))])
    try await engine.fetchChanges()
    let kept = delegate.contents.withLock { $0.state }
    let state = try #require(kept)
    let json = try JSONEncoder().encode(state)
    let again = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json)
    #expect(try JSONEncoder().encode(again) == json)
    #expect(again.readableJSON.contains("delete Notes/x"))
    let list = try PropertyListEncoder().encode(state)
    _ = try PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: list)
    let damaged = Data(#"{"data":"Q1NZTkMBAA=="}"#.utf8)
    #expect(throws: CKSyncEngine.State.SerializationError.self) {
      try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: damaged)
    }
  }

  /// Proves I19.
  @Test("A state file handles a second opener, a torn tail, damage and a newer version")
  func stateFileSurvivesDamageAndSecondOpener() throws {
    let file = EngineTests.temporaryFile()
    defer { EngineTests.remove(file) }
    do {
      let store = try FileStateStore(url: file)
      #expect(try store.load() == nil)
      try store.replace(with: [1, 2, 3])
      for entry: UInt8 in 0..<5 { try store.append([entry, entry]) }
      #expect(throws: FileStateStoreError.self) { try FileStateStore(url: file) }
    }
    let bytes = [UInt8](try Data(contentsOf: file))
    for length in bytes.indices {
      try Data(bytes[..<length]).write(to: file)
      let store = try FileStateStore(url: file)
      let contents = try store.load()
      // Only whole records come back, in order.
      #expect((contents?.entries ?? []).enumerated().allSatisfy { $1 == [UInt8($0), UInt8($0)] })
    }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0x40
      try Data(damaged).write(to: file)
      let store = try FileStateStore(url: file)
      let contents = try? store.load()
      let entries = contents?.entries ?? []
      #expect(entries.enumerated().allSatisfy { $1 == [UInt8($0), UInt8($0)] }, "byte \(index)")
    }
  }
}
