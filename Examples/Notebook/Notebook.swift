import CloudKit

/// Notes that are the same on all of a person's devices.
///
/// It knows CloudKit and nothing else: with Apple's framework it syncs by iCloud, elsewhere by
/// whatever server the process's environment names.
public actor Notebook {
  private let zone: CKRecordZone.ID
  private let database: CKDatabase
  private var notes: [String: String] = [:]
  /// The server's versions, to save on top of.
  private var records: [String: CKRecord] = [:]
  private var running: CKSyncEngine?

  /// Opens the notebook called `name` on this device, which has nothing of it yet.
  public init(name: String, container: CKContainer = .default()) {
    zone = CKRecordZone.ID(zoneName: name)
    database = container.privateCloudDatabase
  }

  /// What the notes say, by their names.
  public var texts: [String: String] { notes }

  /// Writes or changes a note.
  public func write(_ text: String, in name: String) {
    notes[name] = text
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(id(name))])
  }

  /// Throws a note away.
  public func remove(_ name: String) {
    notes[name] = nil
    engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id(name))])
  }

  /// Brings what changed here to the server and what changed there to here.
  public func sync() async throws {
    try await engine.fetchChanges()
    try await engine.sendChanges()
  }

  private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

  private var engine: CKSyncEngine {
    if let running { return running }
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
    running = engine
    return engine
  }
}

extension Notebook: CKSyncEngineDelegate {
  /// Takes in what the engine tells.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .fetchedRecordZoneChanges(let changes):
      for modification in changes.modifications where modification.record.recordID.zoneID == zone {
        take(modification.record, syncEngine)
      }
      for deletion in changes.deletions where deletion.recordID.zoneID == zone {
        notes[deletion.recordID.recordName] = nil
        records[deletion.recordID.recordName] = nil
      }
    case .sentRecordZoneChanges(let sent):
      for record in sent.savedRecords { records[record.recordID.recordName] = record }
      for failure in sent.failedRecordSaves { settle(failure, syncEngine) }
    case .stateUpdate, .accountChange, .fetchedDatabaseChanges, .sentDatabaseChanges,
      .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
      .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    @unknown default: break
    }
  }

  /// A note that was changed here too keeps both texts, the server's first.
  private func take(_ record: CKRecord, _ engine: CKSyncEngine) {
    let name = record.recordID.recordName
    // One's own writes come back too.
    if records[name]?.recordChangeTag == record.recordChangeTag { return }
    let theirs = record["text"] as? String ?? ""
    let isChanged = engine.state.pendingRecordZoneChanges.contains(.saveRecord(record.recordID))
    let mine = notes[name] ?? theirs
    notes[name] = isChanged && mine != theirs ? theirs + "\n" + mine : theirs
    records[name] = record
  }

  private func settle(
    _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, _ engine: CKSyncEngine
  ) {
    let id = failure.record.recordID
    switch failure.error.code {
    case .serverRecordChanged:
      guard let theirs = failure.error.serverRecord else { return }
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
      take(theirs, engine)
    case .zoneNotFound:
      engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    case .unknownItem:
      records[id.recordName] = nil
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    default: break  // The engine tries again by itself where that can help.
    }
  }

  /// Hands the engine the notes that wait.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges
      .filter { context.options.scope.contains($0) }
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      await self.record(id, syncEngine)
    }
  }

  private func record(_ id: CKRecord.ID, _ engine: CKSyncEngine) -> CKRecord? {
    guard let text = notes[id.recordName] else {
      engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
      return nil
    }
    let record = records[id.recordName] ?? CKRecord(recordType: "Note", recordID: id)
    record["text"] = text
    return record
  }
}
