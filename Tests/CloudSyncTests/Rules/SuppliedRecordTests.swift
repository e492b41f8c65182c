import CloudSync
import LoopbackServer
import Synchronization
import Testing

/// An app that keeps its record objects, and ignores what the engine tells about saved ones.
private final class RecordKeeper: CKSyncEngineDelegate {
  let note: CKRecord
  let saved = Mutex<[CKRecord]>([])
  let failures = Mutex<[CKError.Code]>([])

  init(_ note: CKRecord) { self.note = note }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .sentRecordZoneChanges(let sent) = event else { return }
    saved.withLock { $0 += sent.savedRecords }
    failures.withLock { $0 += sent.failedRecordSaves.map(\.error.code) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: syncEngine.state.pendingRecordZoneChanges
    ) { [note] id in id == note.recordID ? note : nil }
  }
}

@Suite("Records that the delegate supplied", .timeLimit(.minutes(20)))
struct SuppliedRecordTests {
  private let server = LoopbackServer()

  @Test("A supplied record has the server's change tag after each save, so its next save succeeds")
  func suppliedObjectIsSavedAgain() async throws {
    let note = CKRecord(recordType: "Note", recordID: NotesApp.id("n1"))
    let app = RecordKeeper(note)
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: app)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
    var tags: Set<String?> = [note.recordChangeTag]
    for edit in 1...3 {
      note["text"] = "edit \(edit)"
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
      try await engine.sendChanges()
      #expect(note.changedKeys().isEmpty && note["text"] == "edit \(edit)")
      tags.insert(note.recordChangeTag)
    }
    #expect(tags.count == 4, "each save gives the object another change tag")
    #expect(app.failures.withLock { $0 }.isEmpty)
    #expect(app.saved.withLock { $0.count == 3 && $0.allSatisfy { $0 === note } })
    #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    let stored = try await container.privateCloudDatabase.record(for: note.recordID)
    #expect(stored["text"] == "edit 3" && stored.recordChangeTag == note.recordChangeTag)
  }
}
