import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// Follows a change of the account.
  ///
  /// The engine has emptied its own list before.
  func accountChanged(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType, _ list: any PendingChangeList
  ) {
    switch change {
    case .signIn(let user):
      // An engine that starts without state says this too, so it may be the same person as ever.
      let owner = state.withLock { $0.settings.owner }
      if let owner, owner != user.recordName { wipe() }
      take(ownership: user)
      for store in stores { store.markEverythingUnsent() }
      uploadEverything(list)
    case .signOut:
      wipe()
    case .switchAccounts(_, let user):
      wipe()
      take(ownership: user)
    }
  }

  /// Follows the loss of the zone.
  func zoneDisappeared(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ list: any PendingChangeList
  ) {
    switch reason {
    case .deleted, .purged:
      // Somebody wanted the data gone: it goes here too and is not sent again.
      list.remove(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
      forgetStores()
      forgetMetadata()
      forgetKeptRecords()
    case .encryptedDataReset:
      // The cloud lost its keys, not the person their data: this device has it all.
      forgetMetadata()
      for store in stores { store.markEverythingUnsent() }
      uploadEverything(list)
    }
  }

  /// Creates the zone and sends everything: no tag of a zone that is gone can be right.
  func zoneIsMissing(_ list: any PendingChangeList) {
    forgetMetadata()
    for store in stores { store.markEverythingUnsent() }
    uploadEverything(list)
  }

  /// Removes everything of the account that was, from memory and from the disk, at once.
  ///
  /// The stores go first and the owner's name last: whatever moment a crash picks, either the
  /// event comes again, or the name tells the next start that foreign data lies here.
  func wipe() {
    state.withLock { state in
      let wipes = state.activity.wipes + 1
      state.activity = SyncActivity()
      state.activity.wipes = wipes
      state.attempts = [:]
      state.unsavedState = nil
    }
    forgetStores()
    forgetMetadata()
    forgetKeptRecords()
    do {
      try stateFile.remove()
      try settingsFile.file.removeCopies()
      try changeSettings { $0.owner = nil }
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func take(ownership user: CKRecord.ID) {
    do {
      try changeSettings { $0.owner = user.recordName }
    } catch {
      tell(settingsFile.file.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func uploadEverything(_ list: any PendingChangeList) {
    list.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
    do {
      try handOver(to: list)
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func forgetStores() {
    for store in stores {
      do {
        try store.forgetEverything()
      } catch {
        tell(store.recordType.rawValue, code: 0, "\(error)")
      }
    }
  }

  private func forgetKeptRecords() {
    do {
      try state.withLock { try $0.kept.clear() }
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func forgetMetadata() {
    do {
      try state.withLock { try $0.metadata.clear() }
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }
}
