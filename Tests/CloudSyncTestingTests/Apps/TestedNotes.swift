import CloudSyncTesting
import Synchronization

/// Notes as a device's user starts them.
final class TestedNotes: ConformingApp {
  private let notes: Notes
  private let engine: CKSyncEngine

  init(_ surroundings: AppSurroundings) throws {
    notes = try Notes(surroundings.folder)
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase,
      stateSerialization: notes.contents.withLock { $0.state }, delegate: notes)
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
