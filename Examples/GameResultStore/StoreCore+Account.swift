import CloudSync
import Foundation
import SyncSupport

extension StoreCore {
  /// Follows a change of the account.
  ///
  /// - Returns: whether everything of the old account was removed.
  func accountChanged(
    _ change: CKSyncEngine.Event.AccountChange.ChangeType, _ state: inout State
  ) -> Bool {
    switch change {
    case .signIn(let user):
      // An engine without state says this at every first start, so it may be nobody new at all.
      let isSomebodyElse = state.settings.owner.map { $0 != user.recordName } ?? false
      if isSomebodyElse { forgetAccount(&state) }
      if state.settings.owner == nil { forgetWhatAnUnknownCloudKnows(&state) }
      changeSettings(&state) { $0.owner = user.recordName }
      // A pass under way goes on with this account: its operations have waited for the answer.
      if !state.isPassing { ask(Wants(fetch: true, isFresh: true), &state) }
      return isSomebodyElse
    case .signOut:
      forgetAccount(&state)
      state.syncState = .offline
      state.offlineMessage = SyncFailure(.notAuthenticated, isRetrying: false).message
      return true
    case .switchAccounts(_, let user):
      forgetAccount(&state)
      state.syncState = .syncing
      changeSettings(&state) { $0.owner = user.recordName }
      ask(Wants(fetch: true, isFresh: true), &state)
      return true
    }
  }

  /// Removes everything of the account that was, at once.
  ///
  /// The owner's name goes last: whatever
  /// moment a crash picks, the next start still sees that foreign data lies here.
  private func forgetAccount(_ state: inout State) {
    forgetEverything(&state)
    forgetEngineState(&state)
    state.hasFetched = false
    state.hasSubscribed = false
    state.conflicts = 0
    state.log = []
    changeSettings(&state) { $0 = ResultSettings() }
    attempt(&state) { _ in try settingsFile.file.removeCopies() }
    log(.info, "The account changed; everything of the old one was removed.", &state)
  }

  /// Without an owner's name nobody can say whose the results are that a cloud has.
  ///
  /// They go, and come back if they are this account's. What no cloud has seen stays, and is
  /// uploaded.
  private func forgetWhatAnUnknownCloudKnows(_ state: inout State) {
    guard !state.metadata.isEmpty else { return }
    for id in state.library.ids(where: { state.metadata.contains(ResultRecord.recordID($0)) }) {
      state.library[id] = nil
      state.queue.drop(id)
    }
    do {
      try state.metadata.clear()
    } catch {
      log(.error, "Not removed: \(error).", &state)
    }
    persist(&state)
  }

  /// Follows what happened to the zone.
  func zonesChanged(
    _ changes: CKSyncEngine.Event.FetchedDatabaseChanges, _ uploads: UploadQueue<UUID>,
    _ engine: CKSyncEngine, _ state: inout State
  ) {
    for deletion in changes.deletions where deletion.zoneID == ResultRecord.zoneID {
      zoneDisappeared(deletion.reason, uploads, engine, &state)
    }
    if changes.modifications.contains(where: { $0.zoneID == ResultRecord.zoneID }) {
      state.isZoneLost = false
      changeSettings(&state) {
        $0.hasZone = true
        $0.wasZoneRemoved = false
      }
    }
  }

  /// Follows the loss of the zone.
  func zoneDisappeared(
    _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ uploads: UploadQueue<UUID>,
    _ engine: CKSyncEngine, _ state: inout State
  ) {
    state.hasSubscribed = false
    state.isZoneLost = false
    forgetEngineState(&state)
    state.sweep = nil
    switch reason {
    case .deleted, .purged:
      // Somebody wanted the results gone: they go here too, and nothing is sent again.
      let pending = engine.state.pendingRecordZoneChanges.filter { change in
        switch change {
        case .saveRecord(let id), .deleteRecord(let id): id.zoneID == ResultRecord.zoneID
        }
      }
      engine.state.remove(pendingRecordZoneChanges: pending)
      engine.state.remove(pendingDatabaseChanges: [
        .saveZone(CKRecordZone(zoneID: ResultRecord.zoneID))
      ])
      uploads.clear()
      forgetEverything(&state)
      changeSettings(&state) {
        $0.hasZone = false
        $0.wasZoneRemoved = true
      }
      log(.warning, "The results were removed in the cloud (\(reason)), and here too.", &state)
    case .encryptedDataReset:
      // The cloud lost its keys, not the person their results: this device has them all.
      uploadEverythingAgain(engine, &state)
      log(.warning, "The account's encrypted data was reset; all results are sent anew.", &state)
    }
  }

  /// Creates the zone and sends every result: no tag of a zone that is gone can be right.
  func uploadEverythingAgain(_ engine: CKSyncEngine, _ state: inout State) {
    do {
      try state.metadata.clear()
    } catch {
      log(.error, "Not removed: \(error).", &state)
    }
    for id in state.library.ids(where: { state.queue[$0]?.change != .save }) {
      state.queue.put(.save, id)
    }
    state.offered = [:]
    state.isZoneLost = false
    changeSettings(&state) { $0.hasZone = false }
    engine.addZone()
    engine.state.add(pendingRecordZoneChanges: state.queue.entries.map(\.pendingChange))
    persist(&state)
  }
}
