import CloudSyncTesting
import Synchronization

/// Notes as a device's user starts them.
final class TestedNotes: ConformingApp {
  private let notes: Notes
  private let delegate: any CKSyncEngineDelegate
  private let engine: CKSyncEngine

  init(_ surroundings: AppSurroundings, mistake: Mistake? = nil) throws {
    let notes = try Notes(surroundings.folder)
    self.notes = notes
    delegate = mistake.map { MistakenDelegate(notes, $0) } ?? notes
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase,
      stateSerialization: notes.contents.withLock { $0.state }, delegate: delegate)
    configuration.automaticallySync = false
    configuration.clock = surroundings.clock
    engine = CKSyncEngine(configuration)
    notes.offerUnsent(engine.state)
  }

  var items: [String: String] { notes.texts }

  func write(_ text: String, as name: String) { notes.write(text, as: name, engine) }

  func delete(_ name: String) { notes.delete(name, engine) }

  func sync() async throws {
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }
}
