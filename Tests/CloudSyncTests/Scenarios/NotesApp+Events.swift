import CloudSync
import Foundation
import Synchronization

extension NotesApp {
  /// Does what an app has to do about an event.
  func apply(_ event: CKSyncEngine.Event, _ state: CKSyncEngine.State) {
    switch event {
    case .stateUpdate(let update):
      return contents.withLock { $0.state = update.stateSerialization }
    case .accountChange(let change): apply(change, state)
    case .fetchedDatabaseChanges(let changes): apply(changes, state)
    case .fetchedRecordZoneChanges(let changes): apply(changes, state)
    case .sentDatabaseChanges: break
    case .sentRecordZoneChanges(let sent): apply(sent, state)
    case .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
      .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    @unknown default: break
    }
    let word = String(describing: event).prefix { $0 != "(" }
    contents.withLock { $0.log.append(String(word)) }
  }

  private func apply(_ change: CKSyncEngine.Event.AccountChange, _ state: CKSyncEngine.State) {
    switch change.changeType {
    case .signIn: enqueueAll(state)
    case .signOut:
      contents.withLock { contents in
        if contents.keepsDataAtSignOut { return }
        contents.notes = [:]
      }
    case .switchAccounts:
      contents.withLock { $0.notes = [:] }
    @unknown default: break
    }
  }

  private func apply(
    _ changes: CKSyncEngine.Event.FetchedDatabaseChanges, _ state: CKSyncEngine.State
  ) {
    contents.withLock { contents in
      contents.zones.formUnion(changes.modifications.map(\.zoneID.zoneName))
      contents.losses += changes.deletions.map(\.reason)
    }
    for deletion in changes.deletions where deletion.zoneID == NotesApp.zone.zoneID {
      switch deletion.reason {
      case .deleted, .purged: contents.withLock { $0.notes = [:] }
      case .encryptedDataReset:
        contents.withLock { contents in
          for name in contents.notes.keys { contents.notes[name]?.server = nil }
        }
        enqueueAll(state)
      @unknown default: break
      }
    }
  }

  private func apply(
    _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges, _ state: CKSyncEngine.State
  ) {
    let pending = Set(
      state.pendingRecordZoneChanges.compactMap { change in
        if case .saveRecord(let id) = change { id.recordName } else { nil }
      })
    contents.withLock { contents in
      for record in changes.modifications.map(\.record) {
        // What is no note of this app is left alone.
        guard record.recordType == "Note", let text = record["text"] as? String else { continue }
        let name = record.recordID.recordName
        if pending.contains(name), contents.notes[name] != nil {
          contents.notes[name]?.server = record
        } else {
          contents.notes[name] = Note(text: text, server: record)
        }
      }
      for deletion in changes.deletions where !pending.contains(deletion.recordID.recordName) {
        contents.notes[deletion.recordID.recordName] = nil
      }
    }
  }

  private func apply(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ state: CKSyncEngine.State
  ) {
    for record in sent.savedRecords {
      contents.withLock { $0.notes[record.recordID.recordName]?.server = record }
    }
    for failure in sent.failedRecordSaves {
      let id = failure.record.recordID
      switch failure.error.code {
      case .serverRecordChanged:
        contents.withLock { $0.notes[id.recordName]?.server = failure.error.serverRecord }
      case .zoneNotFound, .userDeletedZone:
        contents.withLock { $0.notes[id.recordName]?.server = nil }
        state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
      case .unknownItem:
        contents.withLock { $0.notes[id.recordName]?.server = nil }
      case .batchRequestFailed: break
      default: continue  // The engine tries again, or nobody can.
      }
      state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }
    for (id, error) in sent.failedRecordDeletes where error.code == .batchRequestFailed {
      state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
    }
  }
}
