import CloudProtocol
import Foundation
import Records
import SyncMachine

/// Converts between the machine's values and the delegate's.
extension EngineDriver.Core {
  mutating func converted(_ context: FetchContext) -> CKSyncEngine.FetchChangesContext {
    var options = fetchOptions[context.ticket, default: CKSyncEngine.FetchChangesOptions()]
    // All contexts of an operation have the same operation group.
    fetchOptions[context.ticket] = options
    options.scope = CKSyncEngine.FetchChangesOptions.Scope(context.options.scope)
    options.prioritizedZoneIDs = context.options.prioritizedZones.map { CKRecordZone.ID($0) }
    return CKSyncEngine.FetchChangesContext(
      reason: CKSyncEngine.SyncReason(context.reason), options: options)
  }

  mutating func converted(_ context: SendContext) -> CKSyncEngine.SendChangesContext {
    var options = sendOptions[context.ticket, default: CKSyncEngine.SendChangesOptions()]
    sendOptions[context.ticket] = options
    options.scope = CKSyncEngine.SendChangesOptions.Scope(context.scope)
    return CKSyncEngine.SendChangesContext(
      reason: CKSyncEngine.SyncReason(context.reason), options: options)
  }

  mutating func converted(_ event: SyncEvent) -> CKSyncEngine.Event {
    switch event {
    case .stateUpdate:
      .stateUpdate(
        .init(stateSerialization: CKSyncEngine.State.Serialization(machine.state.snapshot)))
    case .accountChange(let change):
      .accountChange(.init(changeType: CKSyncEngine.Event.AccountChange.ChangeType(change)))
    case .willFetchChanges(let context):
      .willFetchChanges(.init(context: converted(context)))
    case .fetchedDatabaseChanges(let modified, let deleted):
      .fetchedDatabaseChanges(
        .init(
          modifications: modified.map { .init(zoneID: CKRecordZone.ID($0)) },
          deletions: deleted.map { .init($0) }))
    case .willFetchZoneChanges(let zone, let startsOver):
      .willFetchRecordZoneChanges(.init(zoneID: CKRecordZone.ID(zone), startsOver: startsOver))
    case .fetchedZoneChanges(let modified, let deleted):
      .fetchedRecordZoneChanges(
        .init(
          modifications: modified.map { .init(record: CKRecord.face(of: $0)) },
          deletions: deleted.map { .init($0) }))
    case .didFetchZoneChanges(let zone, let error):
      .didFetchRecordZoneChanges(
        .init(zoneID: CKRecordZone.ID(zone), error: error.map { CKError($0) }))
    case .didFetchChanges(let context):
      .didFetchChanges(.init(context: converted(context)))
    case .willSendChanges(let context):
      .willSendChanges(.init(context: converted(context)))
    case .sentDatabaseChanges(let sent): .sentDatabaseChanges(converted(sent))
    case .sentRecordChanges(let sent): .sentRecordZoneChanges(converted(sent))
    case .didSendChanges(let context):
      .didSendChanges(.init(context: converted(context)))
    }
  }

  private func converted(_ sent: SentZones) -> CKSyncEngine.Event.SentDatabaseChanges {
    var saved: [CKRecordZone] = []
    var failedSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
    for result in sent.saved {
      switch result.outcome {
      case .success(let zone): saved.append(CKRecordZone(zone))
      case .failure(let error):
        failedSaves.append(
          .init(
            zone: CKRecordZone(zoneID: CKRecordZone.ID(result.id)), error: CKError(error)))
      }
    }
    var deleted: [CKRecordZone.ID] = []
    var failedDeletes: [CKRecordZone.ID: CKError] = [:]
    for result in sent.deleted {
      let id = CKRecordZone.ID(result.id)
      if let error = result.error { failedDeletes[id] = CKError(error) } else { deleted.append(id) }
    }
    return .init(
      savedZones: saved, failedZoneSaves: failedSaves, deletedZoneIDs: deleted,
      failedZoneDeletes: failedDeletes)
  }

  private mutating func converted(_ sent: SentRecords) -> CKSyncEngine.Event.SentRecordZoneChanges {
    var saved: [CKRecord] = []
    var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
    saved.reserveCapacity(sent.saved.count)
    // The app's objects, so that a delegate finds in them the values that it set, and next saves
    // them with the server's change tags.
    let positions = Dictionary(
      batch.indices.map { (batch[$0].save.id, $0) }, uniquingKeysWith: { $1 })
    for result in sent.saved {
      let given = positions[result.id].map { batch[$0] }
      switch result.outcome {
      case .success(let record):
        guard let given else {
          saved.append(CKRecord.face(of: record))
          continue
        }
        given.record.didSave(record, of: given.save)
        saved.append(given.record)
      case .failure(let error):
        guard let record = given?.record else { continue }
        failedRecords[result.id] = record
        failedSaves.append(.init(record: record, error: CKError(error, clientRecord: record)))
      }
    }
    var deleted: [CKRecord.ID] = []
    var failedDeletes: [CKRecord.ID: CKError] = [:]
    for result in sent.deleted {
      let id = CKRecord.ID(result.id)
      if let error = result.error { failedDeletes[id] = CKError(error) } else { deleted.append(id) }
    }
    return .init(
      savedRecords: saved, failedRecordSaves: failedSaves, deletedRecordIDs: deleted,
      failedRecordDeletes: failedDeletes)
  }
}

extension EngineDriver {
  /// The save requests for the records of a batch.
  static func converted(_ batch: CKSyncEngine.RecordZoneChangeBatch?) -> RecordBatch? {
    guard let batch else { return nil }
    var saves: [RecordSave] = []
    saves.reserveCapacity(batch.recordsToSave.count)
    for record in batch.recordsToSave {
      saves.append(record.pendingSave(policy: .ifServerRecordUnchanged))
    }
    return RecordBatch(
      saves: saves, deletions: batch.recordIDsToDelete.map(\.value),
      isAtomic: batch.atomicByZone)
  }
}

extension CKSyncEngine.FetchChangesOptions {
  var machineOptions: FetchOptions {
    FetchOptions(scope: scope.machineScope, prioritizedZones: prioritizedZoneIDs.map(\.value))
  }
}

extension CKSyncEngine.FetchChangesOptions.Scope {
  init(_ scope: FetchScope) {
    switch scope {
    case .all: self = .all
    case .allExcluding(let zones): self = .allExcluding(zones.map { CKRecordZone.ID($0) })
    case .zones(let zones): self = .zoneIDs(zones.map { CKRecordZone.ID($0) })
    }
  }

  var machineScope: FetchScope {
    switch self {
    case .all: .all
    case .allExcluding(let zones): .allExcluding(zones.map(\.value))
    case .zoneIDs(let zones): .zones(zones.map(\.value))
    }
  }
}

extension CKSyncEngine.SendChangesOptions.Scope {
  init(_ scope: SendScope) {
    switch scope {
    case .all: self = .all
    case .allExcluding(let zones): self = .allExcluding(zones.map { CKRecordZone.ID($0) })
    case .zones(let zones): self = .zoneIDs(zones.map { CKRecordZone.ID($0) })
    case .records(let records): self = .recordIDs(records.map { CKRecord.ID($0) })
    }
  }

  var machineScope: SendScope {
    switch self {
    case .all: .all
    case .allExcluding(let zones): .allExcluding(zones.map(\.value))
    case .zoneIDs(let zones): .zones(zones.map(\.value))
    case .recordIDs(let records): .records(records.map(\.value))
    }
  }
}

extension CKSyncEngine.SyncReason {
  init(_ reason: SyncReason) {
    switch reason {
    case .scheduled: self = .scheduled
    case .manual: self = .manual
    }
  }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
  init(_ change: AccountChange) {
    switch change {
    case .signIn(let user): self = .signIn(currentUser: CKRecord.ID(user: user))
    case .signOut(let previous): self = .signOut(previousUser: CKRecord.ID(user: previous))
    case .switchAccounts(let previous, let current):
      self = .switchAccounts(
        previousUser: CKRecord.ID(user: previous), currentUser: CKRecord.ID(user: current))
    }
  }
}

extension CKRecord.ID {
  /// The ID of a user record, in the default zone.
  convenience init(user: UserID) { self.init(recordName: user.rawValue) }
}
