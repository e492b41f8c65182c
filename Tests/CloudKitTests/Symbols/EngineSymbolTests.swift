import CloudKit
import Testing

extension CKSyncEngine.PendingRecordZoneChange {
  var recordID: CKRecord.ID {
    switch self {
    case .saveRecord(let id), .deleteRecord(let id): id
    @unknown default: CKRecord.ID(recordName: "?")
    }
  }
}

/// Writes down what it is told, and narrows fetches when asked to.
///
/// Unchecked, as apps write it: the lock guards the lines, all else is set once in `init`.
final class EngineDiary: CKSyncEngineDelegate, @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []
  private(set) var engine: CKSyncEngine!
  let batch: CKSyncEngine.RecordZoneChangeBatch?
  let scope: CKSyncEngine.FetchChangesOptions.Scope

  init(
    _ database: CKDatabase, batch: CKSyncEngine.RecordZoneChangeBatch? = nil,
    scope: CKSyncEngine.FetchChangesOptions.Scope = .all
  ) {
    self.batch = batch
    self.scope = scope
    var configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    configuration.subscriptionID = "diary"
    engine = CKSyncEngine(configuration)
  }

  var told: [String] {
    lock.lock()
    defer { lock.unlock() }
    defer { lines = [] }
    return lines
  }

  private func note(_ line: String) {
    lock.lock()
    lines.append(line)
    lock.unlock()
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard syncEngine === engine else { return note("foreign engine") }
    switch event {
    case .stateUpdate: break
    case .accountChange(let change):
      switch change.changeType {
      case .signIn(let currentUser): note("sign in \(currentUser.recordName.isEmpty)")
      case .signOut(let previousUser): note("sign out \(previousUser.recordName.isEmpty)")
      case .switchAccounts(let previous, let current): note("switch \(previous == current)")
      @unknown default: note("?")
      }
    case .fetchedDatabaseChanges(let changes):
      for modification in changes.modifications { note("zone \(modification.zoneID.zoneName)") }
      for deletion in changes.deletions {
        switch deletion.reason {
        case .deleted: note("deleted \(deletion.zoneID.zoneName)")
        case .purged: note("purged")
        case .encryptedDataReset: note("reset")
        @unknown default: note("?")
        }
      }
    case .fetchedRecordZoneChanges(let changes):
      note("records \(changes.modifications.map(\.record.recordID.recordName).sorted())")
      for deletion in changes.deletions { note("gone \(deletion.recordID) \(deletion.recordType)") }
    case .sentDatabaseChanges(let sent):
      note("zones saved \(sent.savedZones.map(\.zoneID.zoneName))")
      for failure in sent.failedZoneSaves { note("\(failure.zone.zoneID) \(failure.error.code)") }
      if !sent.deletedZoneIDs.isEmpty { note("zones gone \(sent.deletedZoneIDs.count)") }
      for (id, error) in sent.failedZoneDeletes { note("\(id.zoneName) \(error.code.rawValue)") }
    case .sentRecordZoneChanges(let sent):
      note("saved \(sent.savedRecords.map(\.recordID.recordName).sorted())")
      for failure in sent.failedRecordSaves {
        note("failed \(failure.record.recordID.recordName) \(failure.error.code.rawValue)")
      }
      if !sent.deletedRecordIDs.isEmpty { note("deleted \(sent.deletedRecordIDs.count)") }
      for (id, error) in sent.failedRecordDeletes { note("\(id.recordName) \(error.errorCode)") }
    case .willFetchChanges: note("will fetch")
    case .willFetchRecordZoneChanges(let zone): note("will fetch \(zone.zoneID.zoneName)")
    case .didFetchRecordZoneChanges(let zone):
      note("did fetch \(zone.zoneID.zoneName) \(zone.error == nil)")
    case .didFetchChanges: note("did fetch")
    case .willSendChanges(let will): note("will send \(will.context.reason == .manual)")
    case .didSendChanges: note("did send")
    @unknown default: note("?")
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard context.reason == .manual, !context.description.isEmpty else { return nil }
    guard syncEngine.state.hasPendingUntrackedChanges, let batch else { return nil }
    syncEngine.state.hasPendingUntrackedChanges = false
    note("batch \(batch.recordsToSave.count) \(batch.recordIDsToDelete.count)")
    return batch
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    var options = context.options
    options.scope = scope
    return options
  }
}

@Suite("Symbols of CKSyncEngine, as apps use them")
struct EngineSymbolTests {
  private let zone = CKRecordZone(zoneName: "Diary")

  /// Proves CE-1, E1.
  @Test("The engine handles untracked changes, custom batches, zones, scopes and cancellation")
  func engineSendsUntrackedAndScopedChanges() async throws {
    let phone = container("phone", "iCloud.engine-symbols").privateCloudDatabase
    let record = CKRecord(recordType: "Page", recordID: .init("1", in: zone))
    let diary = EngineDiary(
      phone,
      batch: .init(recordsToSave: [record], recordIDsToDelete: [], atomicByZone: true))
    let state = diary.engine.state
    let other = CKRecordZone(zoneName: "Other")
    state.add(pendingDatabaseChanges: [.saveZone(zone), .saveZone(other)])
    state.remove(pendingDatabaseChanges: [.saveZone(other)])
    #expect(state.pendingDatabaseChanges == [.saveZone(zone)])
    state.hasPendingUntrackedChanges = true
    try await diary.engine.sendChanges(.init(scope: .zoneIDs([zone.zoneID])))
    #expect(
      diary.told == [
        "sign in false", "will send true", #"zones saved ["Diary"]"#, "batch 1 0",
        #"saved ["1"]"#, "did send",
      ])
    #expect(!state.hasPendingUntrackedChanges)
    #expect(diary.engine.database.databaseScope == .private)
    // Another device: the options leave the zone out, then take it in.
    let desk = container("desk", "iCloud.engine-symbols").privateCloudDatabase
    let narrow = EngineDiary(desk, scope: .allExcluding([zone.zoneID]))
    try await narrow.engine.fetchChanges()
    #expect(!narrow.told.contains("will fetch Diary"))
    #expect(narrow.engine.state.zoneIDsWithUnfetchedServerChanges == [zone.zoneID])
    let wide = EngineDiary(desk)
    var options = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zone.zoneID]))
    options.prioritizedZoneIDs = [zone.zoneID]
    options.operationGroup = CKOperationGroup()
    try await wide.engine.fetchChanges(options)
    #expect(wide.told.contains(#"records ["1"]"#))
    // Zones go; one that is not there is an error of its own.
    state.add(pendingDatabaseChanges: [.deleteZone(zone.zoneID), .deleteZone(other.zoneID)])
    _ = try? await diary.engine.sendChanges()
    let told = diary.told
    #expect(told.contains("zones gone 1") && told.contains("Other 26"))
    await diary.engine.cancelOperations()
    try await wide.engine.fetchChanges()
    #expect(wide.told.contains("deleted Diary"))
  }

  /// Proves CE-1.
  @Test("Pending changes work in sets, in scopes and in helper extensions")
  func pendingChangesWorkInSetsAndScopes() {
    let id = CKRecord.ID("a", in: zone)
    let changes: Set<CKSyncEngine.PendingRecordZoneChange> = [
      .saveRecord(id), .saveRecord(id), .deleteRecord(id),
    ]
    #expect(changes.count == 2 && Set(changes.map(\.recordID)) == [id])
    let scope = CKSyncEngine.SendChangesOptions.Scope.recordIDs([id])
    #expect(scope.contains(.saveRecord(id)))
    #expect(!CKSyncEngine.SendChangesOptions.Scope.zoneIDs([]).contains(.saveRecord(id)))
    #expect(CKSyncEngine.FetchChangesOptions.Scope.all.contains(zone.zoneID))
  }
}
