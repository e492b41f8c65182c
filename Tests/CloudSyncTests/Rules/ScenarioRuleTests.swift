import CloudSync
import LoopbackServer
import Records
import Synchronization
import Testing

/// Cases of other engines' tests that no scenario here was about yet.
@Suite("Scenarios: copies, first edits, deletions for everybody", .timeLimit(.minutes(20)))
struct ScenarioRuleTests {
  private let server = LoopbackServer()

  /// Proves SC-20.
  @Test("Changing a delivered record does not change the database")
  func changingDeliveredRecordKeepsDatabase() async throws {
    let phone = NotesApp(server, "phone")
    phone.write(["a": "1"])
    try await phone.engine.sendChanges()
    let kept = Mutex<[CKRecord]>([])
    let listener = Listener { event, engine in
      guard case .fetchedRecordZoneChanges(let changes) = event else { return }
      for change in changes.modifications {
        change.record["text"] = "scribbled"
        kept.withLock { $0.append(change.record) }
      }
    }
    let device = server.device("desk", signedInAs: "alice")
    let container = CKContainer(identifier: NotesApp.container, transport: device)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: listener)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    try await engine.fetchChanges()
    #expect(kept.withLock { $0.count } == 1)
    #expect(try stored(server) == ["a": "1"])
    let read = try await container.privateCloudDatabase.record(for: NotesApp.id("a"))
    #expect(read["text"] as? String == "1")
  }

  /// Proves SC-32, SC-42.
  @Test("The first edit of a fetched record causes no conflict")
  func editOfFetched() async throws {
    let (phone, desk) = (NotesApp(server, "phone"), NotesApp(server, "desk"))
    phone.write(["a": "1"])
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    // The device that never had a zone of its own makes none by telling of it again.
    try await desk.engine.sendChanges()
    let first = desk.contents.withLock { $0.notes["a"]?.server?.modificationDate }
    desk.write(["a": "2"])
    try await desk.engine.sendChanges()
    try await phone.engine.fetchChanges()
    try expectSame(server, phone, desk, as: ["a": "2"])
    let second = phone.contents.withLock { $0.notes["a"]?.server?.modificationDate }
    #expect(try #require(second) > #require(first))
  }

  /// Proves SC-149.
  @Test("A deletion is heard of by every device, in whatever order they ask")
  func everyDeviceHears() async throws {
    let phone = NotesApp(server, "phone")
    phone.write(["a": "1", "b": "2"])
    try await phone.engine.sendChanges()
    let others = (1...3).map { NotesApp(server, "other\($0)") }
    for app in others { try await app.engine.fetchChanges() }
    phone.delete("a")
    try await phone.engine.sendChanges()
    for app in others.reversed() {
      try await app.engine.fetchChanges()
      #expect(app.texts == ["b": "2"])
    }
  }
}
