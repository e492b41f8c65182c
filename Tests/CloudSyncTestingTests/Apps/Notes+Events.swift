import CloudSync
import Foundation
import Synchronization

extension Notes {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let state = syncEngine.state
    switch event {
    case .stateUpdate(let update): change { $0.state = update.stateSerialization }
    case .accountChange(let change): take(change, state)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions where deletion.zoneID == Self.zone.zoneID {
        zoneIsGone(deletion.reason, state)
      }
    case .fetchedRecordZoneChanges(let changes): take(changes)
    case .sentRecordZoneChanges(let sent): take(sent, state)
    case .willFetchRecordZoneChanges(let start) where start.startsOver:
      seen.withLock { $0 = [] }
    case .didFetchRecordZoneChanges: sweep()
    case .sentDatabaseChanges, .willFetchRecordZoneChanges, .willFetchChanges, .didFetchChanges,
      .willSendChanges, .didSendChanges:
      break
    @unknown default: break
    }
  }

  private func take(_ event: CKSyncEngine.Event.AccountChange, _ state: CKSyncEngine.State) {
    switch event.changeType {
    case .signIn(let user):
      change { contents in
        if let owner = contents.owner, owner != user.recordName { contents = Contents() }
        contents.owner = user.recordName
      }
      offerUnsent(state)
    case .signOut: change { $0 = Contents() }
    case .switchAccounts(_, let user):
      change {
        $0 = Contents()
        $0.owner = user.recordName
      }
    @unknown default: break
    }
  }

  private func zoneIsGone(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ state: CKSyncEngine.State
  ) {
    switch reason {
    case .deleted, .purged:
      change {
        $0.texts = [:]
        $0.unsent = [:]
        $0.known = [:]
      }
    case .encryptedDataReset:
      change {
        $0.known = [:]
        for (name, text) in $0.texts { $0.unsent[name] = .some(text) }
      }
      offerUnsent(state)
    @unknown default: break
    }
  }

  private func take(_ changes: CKSyncEngine.Event.FetchedRecordZoneChanges) {
    change { contents in
      for record in changes.modifications.map(\.record) where record.recordType == "Note" {
        let name = record.recordID.recordName
        seen.withLock { _ = $0?.insert(name) }
        contents.known[name] = Self.systemFields(record)
        if contents.unsent[name] == nil { contents.texts[name] = record["text"] as? String }
      }
      for deletion in changes.deletions {
        let name = deletion.recordID.recordName
        contents.known[name] = nil
        if contents.unsent[name] == nil { contents.texts[name] = nil }
      }
    }
  }

  /// A zone that was read from its beginning did not show these: they were deleted.
  private func sweep() {
    guard
      let seen = seen.withLock({ seen in
        defer { seen = nil }
        return seen
      })
    else { return }
    change { contents in
      for name in contents.known.keys where !seen.contains(name) {
        contents.known[name] = nil
        if contents.unsent[name] == nil { contents.texts[name] = nil }
      }
    }
  }

  private func take(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ state: CKSyncEngine.State
  ) {
    change { contents in
      for record in sent.savedRecords {
        let name = record.recordID.recordName
        contents.known[name] = Self.systemFields(record)
        if contents.unsent[name] == .some(record["text"] as? String) { contents.unsent[name] = nil }
      }
      for id in sent.deletedRecordIDs {
        contents.known[id.recordName] = nil
        if contents.unsent[id.recordName] == .some(nil) { contents.unsent[id.recordName] = nil }
      }
      for failure in sent.failedRecordSaves {
        let name = failure.record.recordID.recordName
        switch failure.error.code {
        case .serverRecordChanged:
          contents.known[name] = failure.error.serverRecord.map(Self.systemFields)
        case .zoneNotFound, .userDeletedZone, .unknownItem: contents.known[name] = nil
        default: break
        }
      }
      for (id, error) in sent.failedRecordDeletes
      where [.unknownItem, .zoneNotFound, .userDeletedZone].contains(error.code) {
        contents.unsent[id.recordName] = nil
      }
    }
    offerUnsent(state)
  }
}
