import CloudKit

/// An app whose store is an actor and delegate at once, with a cache of system fields in keyed
/// archives, and its state in one Codable struct.
actor ActorApp: CKSyncEngineDelegate {
  struct Item: Codable, Equatable, Sendable {
    var title: String
    var systemFields: Data?
  }

  struct Saved: Codable, Sendable {
    var items: [String: Item] = [:]
    var engineState: CKSyncEngine.State.Serialization?
  }

  static let zoneID = CKRecordZone.ID(zoneName: "Items", ownerName: CKCurrentUserDefaultName)

  private(set) var saved = Saved()
  private var _engine: CKSyncEngine?
  private let container: CKContainer

  var engine: CKSyncEngine {
    if let _engine { return _engine }
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase,
      stateSerialization: saved.engineState,
      delegate: self
    )
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    _engine = engine
    return engine
  }

  init(container: CKContainer) { self.container = container }

  func put(_ title: String, id: String) {
    saved.items[id, default: Item(title: title)].title = title
    engine.state.add(pendingRecordZoneChanges: [
      .saveRecord(CKRecord.ID(recordName: id, zoneID: Self.zoneID))
    ])
  }

  func remove(_ id: String) {
    saved.items[id] = nil
    engine.state.add(pendingRecordZoneChanges: [
      .deleteRecord(CKRecord.ID(recordName: id, zoneID: Self.zoneID))
    ])
  }

  /// Writes what is kept, and reads it back as a new launch would.
  func relaunch() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    saved = try JSONDecoder().decode(Saved.self, from: try encoder.encode(saved))
    _engine = nil
  }

  func sync() async throws {
    for attempt in 1... {
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
        return
      } catch let error as CKError where error.code == .partialFailure && attempt < 4 {
        continue
      }
    }
  }

  var titles: [String: String] { saved.items.mapValues { $0.title } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .stateUpdate(let event):
      saved.engineState = event.stateSerialization
    case .accountChange(let event):
      handleAccountChange(event)
    case .fetchedDatabaseChanges(let event):
      for deletion in event.deletions {
        switch deletion.zoneID.zoneName {
        case Self.zoneID.zoneName: saved.items = [:]
        default: break
        }
      }
    case .fetchedRecordZoneChanges(let event):
      for modification in event.modifications { merge(modification.record) }
      for deletion in event.deletions where deletion.recordType == "Item" {
        saved.items[deletion.recordID.recordName] = nil
      }
    case .sentRecordZoneChanges(let event):
      handleSent(event)
    case .sentDatabaseChanges:
      break
    case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
      .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    @unknown default:
      break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext,
    syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let changes = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
    let items = saved.items
    let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
      guard let item = items[recordID.recordName] else {
        syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
        return nil
      }
      let record = Self.record(for: item, id: recordID)
      record["title"] = item.title
      record.encryptedValues["secret"] = "of \(item.title)"
      return record
    }
    return batch
  }

  private static func record(for item: Item, id: CKRecord.ID) -> CKRecord {
    if let data = item.systemFields, let coder = try? NSKeyedUnarchiver(forReadingFrom: data) {
      coder.requiresSecureCoding = true
      defer { coder.finishDecoding() }
      if let record = CKRecord(coder: coder) { return record }
    }
    return CKRecord(recordType: "Item", recordID: id)
  }

  private func keep(_ record: CKRecord) {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    saved.items[record.recordID.recordName]?.systemFields = archiver.encodedData
  }

  private func merge(_ record: CKRecord) {
    guard record.recordType == "Item", let title = record["title"] as? String else { return }
    guard record.encryptedValues["secret"] as? String == "of \(title)" else { return }
    let id = record.recordID.recordName
    if saved.items[id] == nil { saved.items[id] = Item(title: title) }
    let isPending = engine.state.pendingRecordZoneChanges.contains(.saveRecord(record.recordID))
    if !isPending { saved.items[id]?.title = title }
    keep(record)
  }

  private func handleAccountChange(_ event: CKSyncEngine.Event.AccountChange) {
    switch event.changeType {
    case .signIn:
      engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))])
      engine.state.add(
        pendingRecordZoneChanges: saved.items.keys.sorted().map {
          .saveRecord(CKRecord.ID(recordName: $0, zoneID: Self.zoneID))
        })
    case .switchAccounts, .signOut:
      saved.items = [:]
    @unknown default:
      break
    }
  }

  private func handleSent(_ event: CKSyncEngine.Event.SentRecordZoneChanges) {
    var newPendingRecordZoneChanges = [CKSyncEngine.PendingRecordZoneChange]()
    var newPendingDatabaseChanges = [CKSyncEngine.PendingDatabaseChange]()
    for record in event.savedRecords { keep(record) }
    for failure in event.failedRecordSaves {
      let recordID = failure.record.recordID
      switch failure.error.code {
      case .serverRecordChanged:
        guard let serverRecord = failure.error.serverRecord else { continue }
        keep(serverRecord)
        newPendingRecordZoneChanges.append(.saveRecord(recordID))
      case .zoneNotFound:
        newPendingDatabaseChanges.append(.saveZone(CKRecordZone(zoneID: recordID.zoneID)))
        newPendingRecordZoneChanges.append(.saveRecord(recordID))
        saved.items[recordID.recordName]?.systemFields = nil
      case .unknownItem:
        newPendingRecordZoneChanges.append(.saveRecord(recordID))
        saved.items[recordID.recordName]?.systemFields = nil
      case .networkFailure, .networkUnavailable, .zoneBusy, .serviceUnavailable,
        .notAuthenticated, .operationCancelled:
        break
      default:
        break
      }
    }
    engine.state.add(pendingDatabaseChanges: newPendingDatabaseChanges)
    engine.state.add(pendingRecordZoneChanges: newPendingRecordZoneChanges)
  }
}
