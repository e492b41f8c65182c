import CloudKit

/// An app whose model is on the main actor, observable, and delegate by an extension.
@MainActor @Observable
final class MainActorApp {
  struct Task: Identifiable, Codable, Hashable {
    var id = UUID()
    var text: String
    var done = false
    var due: Date?
  }

  var tasks: [Task] = []
  var lastError: String?
  @ObservationIgnored private var records: [CKRecord.ID: CKRecord] = [:]
  @ObservationIgnored private var stateData: Data?
  @ObservationIgnored private(set) var engine: CKSyncEngine!

  let zone = CKRecordZone(zoneName: "Tasks")

  init(container: CKContainer) {
    let state = stateData.flatMap {
      try? PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
    }
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: state, delegate: self)
    configuration.automaticallySync = false
    engine = CKSyncEngine(configuration)
    engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
  }

  func add(_ text: String, due: Date? = nil) -> UUID {
    let task = Task(text: text, due: due)
    tasks.append(task)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID(task.id))])
    return task.id
  }

  func finish(_ id: Task.ID) {
    guard let index = tasks.firstIndex(where: { $0.id == id }) else { return }
    tasks[index].done.toggle()
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID(id))])
  }

  private func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zone.zoneID)
  }

  private func record(_ task: Task) -> CKRecord {
    let id = recordID(task.id)
    let record = records[id] ?? CKRecord(recordType: "Task", recordID: id)
    record["text"] = task.text as NSString
    record["done"] = task.done ? 1 : 0
    record["due"] = task.due
    return record
  }

  private func apply(_ record: CKRecord) {
    guard let id = UUID(uuidString: record.recordID.recordName),
      let text = record["text"] as? String
    else { return }
    records[record.recordID] = record
    let task = Task(
      id: id, text: text, done: (record["done"] as? Int64 ?? 0) != 0, due: record["due"] as? Date)
    if let index = tasks.firstIndex(where: { $0.id == id }) {
      tasks[index] = task
    } else {
      tasks.append(task)
    }
  }
}

extension MainActorApp: CKSyncEngineDelegate {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case let .stateUpdate(update):
      stateData = try? PropertyListEncoder().encode(update.stateSerialization)
    case let .fetchedRecordZoneChanges(changes):
      changes.modifications.map(\.record).forEach(apply)
      let gone = Set(changes.deletions.map(\.recordID.recordName))
      tasks.removeAll { gone.contains($0.id.uuidString) }
    case let .sentRecordZoneChanges(sent):
      sent.savedRecords.forEach { records[$0.recordID] = $0 }
      for failure in sent.failedRecordSaves {
        lastError = failure.error.localizedDescription
        if let server = failure.error.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord {
          apply(server)
        }
      }
    default:
      break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges
      .filter { context.options.scope.contains($0) }
    guard !pending.isEmpty else { return nil }
    var saves: [CKRecord] = []
    var deletions: [CKRecord.ID] = []
    for change in pending.prefix(200) {
      switch change {
      case .saveRecord(let id):
        if let task = tasks.first(where: { $0.id.uuidString == id.recordName }) {
          saves.append(record(task))
        } else {
          syncEngine.state.remove(pendingRecordZoneChanges: [change])
        }
      case .deleteRecord(let id): deletions.append(id)
      @unknown default: break
      }
    }
    return CKSyncEngine.RecordZoneChangeBatch(
      recordsToSave: saves, recordIDsToDelete: deletions, atomicByZone: false)
  }
}
