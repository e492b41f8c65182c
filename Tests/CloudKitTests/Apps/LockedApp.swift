import CloudKit

/// An app in the older manner: a class with a lock, callbacks, and an engine made on demand.
final class LockedApp: NSObject, @unchecked Sendable {
  static let zoneID = CKRecordZone.ID(zoneName: "Locked", ownerName: CKCurrentUserDefaultName)

  private let lock = NSLock()
  private var values: [String: Int] = [:]
  private var known: [String: CKRecord] = [:]
  private let onChange: (String) -> Void
  private lazy var engine: CKSyncEngine = {
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    return .init(configuration)
  }()
  let database: CKDatabase

  init(database: CKDatabase, onChange: @escaping (String) -> Void = { _ in }) {
    self.database = database
    self.onChange = onChange
    super.init()
    engine.state.add(pendingDatabaseChanges: [.saveZone(.init(zoneID: Self.zoneID))])
  }

  var contents: [String: Int] {
    lock.lock()
    defer { lock.unlock() }
    return values
  }

  func set(_ value: Int?, for name: String) {
    lock.lock()
    values[name] = value
    lock.unlock()
    let id = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
    engine.state.add(pendingRecordZoneChanges: [value == nil ? .deleteRecord(id) : .saveRecord(id)])
  }

  func sync() async {
    do {
      try await engine.fetchChanges(.init(scope: .zoneIDs([Self.zoneID])))
      try await engine.sendChanges(.init(scope: .all))
    } catch let error as CKError {
      onChange("CloudKit \(error.code.rawValue) (\(error.errorCode))")
    } catch {
      onChange((error as NSError).domain)
    }
  }

  private func record(_ id: CKRecord.ID) -> CKRecord? {
    lock.lock()
    defer { lock.unlock() }
    guard let value = values[id.recordName] else { return nil }
    let record = known[id.recordName] ?? CKRecord(recordType: "Value", recordID: id)
    record["value"] = NSNumber(value: value)
    return record
  }
}

extension LockedApp: CKSyncEngineDelegate {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) {
    lock.lock()
    defer { lock.unlock() }
    switch event {
    case .fetchedRecordZoneChanges(let changes):
      for modification in changes.modifications {
        let record = modification.record
        known[record.recordID.recordName] = record
        values[record.recordID.recordName] = (record["value"] as? NSNumber)?.intValue
      }
      for deletion in changes.deletions { values.removeValue(forKey: deletion.recordID.recordName) }
    case .sentRecordZoneChanges(let sent):
      for record in sent.savedRecords { known[record.recordID.recordName] = record }
    case .accountChange, .stateUpdate: break
    default: break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let changes = Array(
      syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }.prefix(100))
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { [weak self] id in
      self?.record(id)
    }
  }
}
