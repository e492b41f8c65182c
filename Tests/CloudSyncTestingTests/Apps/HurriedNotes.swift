import CloudSyncTesting
import Foundation
import Synchronization

/// Notes as one writes them who read the documentation in a hurry: conflicts are handled, a missing
/// zone and a missing record too, and everything else is left to the engine.
///
/// Do not copy this.
final class HurriedNotes: CKSyncEngineDelegate, ConformingApp {
  private struct Contents: Codable {
    var texts: [String: String] = [:]
    var known: [String: Data] = [:]
    var state: CKSyncEngine.State.Serialization?
  }

  private let file: URL
  private let contents: Mutex<Contents>
  private let running = Mutex<CKSyncEngine?>(nil)

  init(_ surroundings: AppSurroundings) throws {
    file = surroundings.folder.appendingPathComponent("notes.json")
    let data = FileManager.default.contents(atPath: file.path)
    let contents =
      try data.map { try JSONDecoder().decode(Contents.self, from: $0) } ?? Contents()
    self.contents = Mutex(contents)
    var configuration = CKSyncEngine.Configuration(
      database: surroundings.container.privateCloudDatabase, stateSerialization: contents.state,
      delegate: self)
    configuration.automaticallySync = false
    configuration.clock = surroundings.clock
    running.withLock { $0 = CKSyncEngine(configuration) }
  }

  private func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: Notes.zone.zoneID)
  }

  private func engine() throws -> CKSyncEngine {
    guard let engine = running.withLock({ $0 }) else { throw CancellationError() }
    return engine
  }

  private func change(_ body: (inout Contents) -> Void) {
    contents.withLock { contents in
      body(&contents)
      try? JSONEncoder().encode(contents).write(to: file, options: .atomic)
    }
  }

  var items: [String: String] { contents.withLock { $0.texts } }

  func write(_ text: String, as name: String) throws {
    change { $0.texts[name] = text }
    let state = try engine().state
    state.add(pendingDatabaseChanges: [.saveZone(Notes.zone)])
    state.add(pendingRecordZoneChanges: [.saveRecord(id(name))])
  }

  func delete(_ name: String) throws {
    change { $0.texts[name] = nil }
    try engine().state.add(pendingRecordZoneChanges: [.deleteRecord(id(name))])
  }

  func sync() async throws {
    try await engine().fetchChanges()
    try await engine().sendChanges()
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let state = syncEngine.state
    switch event {
    case .stateUpdate(let update): change { $0.state = update.stateSerialization }
    case .accountChange(let change):
      if case .signIn = change.changeType { uploadEverything(state) }
    case .fetchedRecordZoneChanges(let changes):
      change { contents in
        for record in changes.modifications.map(\.record) {
          contents.texts[record.recordID.recordName] = record["text"] as? String
          contents.known[record.recordID.recordName] = record.systemFields
        }
        for deletion in changes.deletions { contents.texts[deletion.recordID.recordName] = nil }
      }
    case .sentRecordZoneChanges(let sent): take(sent, state)
    default: break
    }
  }

  private func uploadEverything(_ state: CKSyncEngine.State) {
    state.add(pendingDatabaseChanges: [.saveZone(Notes.zone)])
    state.add(pendingRecordZoneChanges: items.keys.sorted().map { .saveRecord(id($0)) })
  }

  private func take(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ state: CKSyncEngine.State
  ) {
    for record in sent.savedRecords {
      change { $0.known[record.recordID.recordName] = record.systemFields }
    }
    for failure in sent.failedRecordSaves {
      let id = failure.record.recordID
      switch failure.error.code {
      case .serverRecordChanged:
        change { $0.known[id.recordName] = failure.error.serverRecord?.systemFields }
        state.add(pendingRecordZoneChanges: [.saveRecord(id)])
      case .zoneNotFound: uploadEverything(state)
      case .unknownItem:
        change { $0.known[id.recordName] = nil }
        state.add(pendingRecordZoneChanges: [.saveRecord(id)])
      default: break
      }
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges.filter(
      context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let contents = self.contents.withLock { $0 }
      let record =
        contents.known[id.recordName].flatMap(CKRecord.init(systemFields:))
        ?? CKRecord(recordType: "Note", recordID: id)
      record["text"] = contents.texts[id.recordName] ?? ""
      return record
    }
  }
}
