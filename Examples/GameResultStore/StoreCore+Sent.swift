import CloudSync
import Foundation
import SyncSupport

extension StoreCore {
  /// How often a change is sent again that the cloud refuses on its own account.
  private static let mostAttempts = 3

  /// Settles every change of a batch.
  func recordsSent(
    _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ uploads: UploadQueue<UUID>,
    _ engine: CKSyncEngine, _ state: inout State
  ) {
    for record in sent.savedRecords where record.recordID.zoneID == ResultRecord.zoneID {
      state.metadata.keep(record)
      confirm(record.recordID, &state)
    }
    for recordID in sent.deletedRecordIDs { deleted(recordID, &state) }
    let knewRecords = !state.metadata.isEmpty
    for failure in sent.failedRecordSaves {
      saveFailed(failure, knewRecords: knewRecords, uploads, engine, &state)
    }
    // The dictionary's order differs in every process; what is done must not.
    let deletions = sent.failedRecordDeletes.sorted { $0.key.recordName < $1.key.recordName }
    for (recordID, error) in deletions { deletionFailed(recordID, error, engine, &state) }
  }

  /// Notes what became of the zone; the engine repeats what only met a bad moment.
  func zonesSent(_ sent: CKSyncEngine.Event.SentDatabaseChanges, _ state: inout State) {
    if sent.savedZones.contains(where: { $0.zoneID == ResultRecord.zoneID }) {
      state.report.settle()
      changeSettings(&state) {
        $0.hasZone = true
        $0.wasZoneRemoved = false
      }
    }
    for failure in sent.failedZoneSaves where failure.zone.zoneID == ResultRecord.zoneID {
      switch FailedChange.ofSave(failure.error.code) {
      case .isRetried: state.report.note(passing: failure.error)
      case .keepForLater: storageIsFull(&state)
      case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .sendAgain,
        .sendAgainAFewTimes, .isDone, .tell:
        state.report.zoneFailure = failure.error.code
        log(.error, "The zone could not be made: \(failure.error.code).", &state)
      }
    }
  }

  /// A change the cloud has now; a later one of the same item stays in the queue.
  private func confirm(_ recordID: CKRecord.ID, _ state: inout State) {
    guard let id = UUID(uuidString: recordID.recordName) else { return }
    if let number = state.offered.removeValue(forKey: id) {
      state.queue.settle(id, number: number)
    }
    state.attempts[id] = nil
    state.refused.remove(id)
    state.report.settle()
  }

  private func deleted(_ recordID: CKRecord.ID, _ state: inout State) {
    state.metadata.drop(recordID.recordName)
    confirm(recordID, &state)
  }

  private func saveFailed(
    _ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave, knewRecords: Bool,
    _ uploads: UploadQueue<UUID>, _ engine: CKSyncEngine, _ state: inout State
  ) {
    let recordID = failure.record.recordID
    guard recordID.zoneID == ResultRecord.zoneID, let id = UUID(uuidString: recordID.recordName)
    else { return }
    state.offered[id] = nil
    switch FailedChange.ofSave(failure.error.code) {
    case .isRetried: state.report.note(passing: failure.error)
    case .bringTogether: serverWins(id, failure.error, engine, &state)
    case .createZone:
      zoneIsMissing(recordID, failure.error, knewRecords: knewRecords, engine, &state)
    case .zoneWasPurged:
      if knewRecords, state.settings.hasZone {
        zoneDisappeared(.purged, uploads, engine, &state)
      } else if state.queue[id] != nil {
        // The purge was obeyed before; this is a result made since.
        createZone(recordID, engine, &state)
      }
    case .recordIsGone:
      state.metadata.drop(recordID.recordName)
      sendAgain(.saveRecord(recordID), engine, &state)
    case .sendAgain: sendAgain(.saveRecord(recordID), engine, &state)
    case .sendAgainAFewTimes:
      state.batchLimit = max(1, state.batchLimit / 2)
      if count(id, failure.error, &state) { sendAgain(.saveRecord(recordID), engine, &state) }
    case .keepForLater: storageIsFull(&state)
    case .isDone, .tell: refuse(id, failure.error, &state)
    }
  }

  private func deletionFailed(
    _ recordID: CKRecord.ID, _ error: CKError, _ engine: CKSyncEngine, _ state: inout State
  ) {
    guard recordID.zoneID == ResultRecord.zoneID, let id = UUID(uuidString: recordID.recordName)
    else { return }
    switch FailedChange.ofDeletion(error.code) {
    case .isRetried: state.report.note(passing: error)
    case .isDone: return deleted(recordID, &state)
    case .sendAgain: sendAgain(.deleteRecord(recordID), engine, &state)
    case .sendAgainAFewTimes:
      if count(id, error, &state) { sendAgain(.deleteRecord(recordID), engine, &state) }
    case .keepForLater: storageIsFull(&state)
    case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .tell:
      refuse(id, error, &state)
    }
    state.offered[id] = nil
  }

  // MARK: What to do about a failure

  /// A conflict: results never change, so two versions are a rare accident, and the cloud's stays.
  private func serverWins(
    _ id: UUID, _ error: CKError, _ engine: CKSyncEngine, _ state: inout State
  ) {
    guard let serverRecord = error.serverRecord else {
      // Without the other version there is nothing to take over; a fetch brings it.
      state.report.needsFetch = true
      return
    }
    state.conflicts += 1
    log(.warning, "Conflict for result \(id.uuidString), using server version.", &state)
    accept(serverRecord, engine, &state)
    state.report.settle()
  }

  private func sendAgain(
    _ change: CKSyncEngine.PendingRecordZoneChange, _ engine: CKSyncEngine, _ state: inout State
  ) {
    engine.state.add(pendingRecordZoneChanges: [change])
  }

  private func createZone(
    _ recordID: CKRecord.ID, _ engine: CKSyncEngine, _ state: inout State
  ) {
    changeSettings(&state) { $0.hasZone = false }
    engine.addZone()
    sendAgain(.saveRecord(recordID), engine, &state)
  }

  /// The zone is not there.
  ///
  /// If nothing ever was in it, it is made now. If something was, a fetch
  /// has to tell first why it went: what another device deleted must not come back.
  private func zoneIsMissing(
    _ recordID: CKRecord.ID, _ error: CKError, knewRecords: Bool, _ engine: CKSyncEngine,
    _ state: inout State
  ) {
    if (error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool) == true {
      return uploadEverythingAgain(engine, &state)
    }
    guard knewRecords, state.settings.hasZone else {
      createZone(recordID, engine, &state)
      return
    }
    state.isZoneLost = true
    state.report.needsFetch = true
    sendAgain(.saveRecord(recordID), engine, &state)
  }

  private func storageIsFull(_ state: inout State) {
    guard !state.isStorageFull else { return }
    state.isStorageFull = true
    state.groups = []
    log(.error, "The iCloud storage is full; uploads wait until there is space.", &state)
  }

  private func refuse(_ id: UUID, _ error: CKError, _ state: inout State) {
    if count(id, error, &state) { state.postponed.insert(id) }
  }

  /// Counts one more failure of an item; answers whether it is tried again.
  private func count(_ id: UUID, _ error: CKError, _ state: inout State) -> Bool {
    state.attempts[id, default: 0] += 1
    guard state.attempts[id, default: 0] > Self.mostAttempts else { return true }
    state.refused.insert(id)
    log(
      .error,
      "The cloud refuses result \(id.uuidString): \(error.code). It stays on this device; "
        + "sync by hand to try again.", &state)
    return false
  }
}
