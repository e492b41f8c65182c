import CloudProtocol
import CloudSync
import Records
import SyncMachine

/// From what a delegate is given back to the values that apps and checkers of the machine know.
///
/// The engine made the event out of such values; the way back is written apart from the engine's.
extension CKSyncEngine.Event {
  var machineEvent: SyncEvent {
    switch self {
    case .stateUpdate: return .stateUpdate
    case .accountChange(let change): return .accountChange(change.changeType.machineChange)
    case .willFetchChanges(let will): return .willFetchChanges(will.context.machineContext)
    case .didFetchChanges(let did): return .didFetchChanges(did.context.machineContext)
    case .willSendChanges(let will): return .willSendChanges(will.context.machineContext)
    case .didSendChanges(let did): return .didSendChanges(did.context.machineContext)
    case .fetchedDatabaseChanges(let fetched):
      return .fetchedDatabaseChanges(
        modified: fetched.modifications.map(\.zoneID.value),
        deleted: fetched.deletions.map {
          ZoneDeletion(zone: $0.zoneID.value, reason: $0.reason.machineReason)
        })
    case .willFetchRecordZoneChanges(let will):
      return .willFetchZoneChanges(will.zoneID.value, startsOver: will.startsOver)
    case .didFetchRecordZoneChanges(let did):
      return .didFetchZoneChanges(did.zoneID.value, did.error?.machineError)
    case .fetchedRecordZoneChanges(let fetched):
      return .fetchedZoneChanges(
        modified: fetched.modifications.map(\.record.value),
        deleted: fetched.deletions.map {
          RecordDeletion(id: $0.recordID.value, type: $0.recordType)
        })
    case .sentDatabaseChanges(let sent): return .sentDatabaseChanges(sent.machineResults)
    case .sentRecordZoneChanges(let sent): return .sentRecordChanges(sent.machineResults)
    }
  }
}

extension CKSyncEngine.Event.SentDatabaseChanges {
  fileprivate var machineResults: SentZones {
    var saved = savedZones.map {
      ItemResult(id: $0.zoneID.value, .success(Zone(id: $0.zoneID.value)))
    }
    saved += failedZoneSaves.map {
      ItemResult(id: $0.zone.zoneID.value, .failure($0.error.machineError))
    }
    var deleted = deletedZoneIDs.map { ItemResult(id: $0.value, .success(Done())) }
    // A dictionary has no order that may be seen.
    deleted += failedZoneDeletes.sorted { $0.key.value < $1.key.value }.map {
      ItemResult(id: $0.key.value, .failure($0.value.machineError))
    }
    return SentZones(saved: saved, deleted: deleted)
  }
}

extension CKSyncEngine.Event.SentRecordZoneChanges {
  fileprivate var machineResults: SentRecords {
    var saved = savedRecords.map { ItemResult(id: $0.recordID.value, .success($0.value)) }
    saved += failedRecordSaves.map {
      ItemResult(id: $0.record.recordID.value, .failure($0.error.machineError))
    }
    var deleted = deletedRecordIDs.map { ItemResult(id: $0.value, .success(Done())) }
    deleted += failedRecordDeletes.sorted { $0.key.value < $1.key.value }.map {
      ItemResult(id: $0.key.value, .failure($0.value.machineError))
    }
    return SentRecords(saved: saved, deleted: deleted)
  }
}

extension CKError {
  var machineError: CloudError {
    CloudError(
      code, localizedDescription, retryAfter: retryAfterSeconds,
      serverRecord: serverRecord?.value)
  }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
  fileprivate var machineChange: AccountChange {
    switch self {
    case .signIn(let user): .signIn(UserID(user.recordName))
    case .signOut(let user): .signOut(previous: UserID(user.recordName))
    case .switchAccounts(let previous, let current):
      .switchAccounts(
        previous: UserID(previous.recordName), current: UserID(current.recordName))
    }
  }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
  fileprivate var machineReason: ZoneDeletionReason {
    switch self {
    case .deleted: .deleted
    case .purged: .purged
    case .encryptedDataReset: .encryptedDataReset
    }
  }
}

extension CKSyncEngine.FetchChangesContext {
  fileprivate var machineContext: FetchContext {
    FetchContext(reason: reason == .manual ? .manual : .scheduled, options: FetchOptions())
  }
}

extension CKSyncEngine.SendChangesContext {
  var machineContext: SendContext {
    let scope: SendScope
    switch options.scope {
    case .all: scope = .all
    case .allExcluding(let zones): scope = .allExcluding(zones.map(\.value))
    case .zoneIDs(let zones): scope = .zones(zones.map(\.value))
    case .recordIDs(let records): scope = .records(records.map(\.value))
    }
    return SendContext(reason: reason == .manual ? .manual : .scheduled, scope: scope)
  }
}

extension CKSyncEngine.FetchChangesOptions.Scope {
  init(machine scope: FetchScope) {
    switch scope {
    case .all: self = .all
    case .allExcluding(let zones): self = .allExcluding(zones.map { CKRecordZone.ID($0) })
    case .zones(let zones): self = .zoneIDs(zones.map { CKRecordZone.ID($0) })
    }
  }
}

extension CKSyncEngine.SendChangesOptions.Scope {
  init(machine scope: SendScope) {
    switch scope {
    case .all: self = .all
    case .allExcluding(let zones): self = .allExcluding(zones.map { CKRecordZone.ID($0) })
    case .zones(let zones): self = .zoneIDs(zones.map { CKRecordZone.ID($0) })
    case .records(let records): self = .recordIDs(records.map { CKRecord.ID($0) })
    }
  }
}

extension CKSyncEngine.PendingRecordZoneChange {
  var machineChange: PendingChange<RecordID> {
    switch self {
    case .saveRecord(let id): PendingChange(.save, id.value)
    case .deleteRecord(let id): PendingChange(.delete, id.value)
    }
  }

  init(machine change: PendingChange<RecordID>) {
    switch change.kind {
    case .save: self = .saveRecord(CKRecord.ID(change.id))
    case .delete: self = .deleteRecord(CKRecord.ID(change.id))
    }
  }
}
