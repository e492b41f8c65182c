import CloudSyncTesting

final class TestedNotes: ConformingApp {
  let notes: Notes
  let engine: CKSyncEngine

  init(_ surroundings: AppSurroundings) throws {
    notes = try Notes(surroundings.folder)
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase,
      stateSerialization: notes.savedState, delegate: notes)
    configuration.automaticallySync = false
    engine = CKSyncEngine(configuration)
    notes.addUnsent(to: engine.state)
  }

  var items: [String: String] { notes.texts }

  func write(_ text: String, as name: String) throws { try notes.write(text, as: name, engine) }

  func delete(_ name: String) throws { try notes.write(nil, as: name, engine) }

  func sync() async throws {
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }
}

/// Notes whose delegate makes one mistake.
final class MistakenNotes: ConformingApp {
  private let notes: Notes
  private let delegate: MistakenDelegate
  private let engine: CKSyncEngine

  init(_ surroundings: AppSurroundings, _ mistake: Mistake) throws {
    notes = try Notes(surroundings.folder)
    delegate = MistakenDelegate(notes, mistake)
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase,
      stateSerialization: notes.savedState, delegate: delegate)
    configuration.automaticallySync = false
    engine = CKSyncEngine(configuration)
    notes.addUnsent(to: engine.state)
  }

  var items: [String: String] { notes.texts }

  func write(_ text: String, as name: String) throws { try notes.write(text, as: name, engine) }

  func delete(_ name: String) throws { try notes.write(nil, as: name, engine) }

  func sync() async throws {
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }
}
