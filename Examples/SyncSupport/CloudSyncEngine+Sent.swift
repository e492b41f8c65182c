import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine {
  /// How often in a row a change that fits no request is sent again.
  private static let mostAttempts = 3

  /// Notes what became of zone saves; the engine repeats those that only met a bad moment.
  func zonesSent(_ sent: CKSyncEngine.Event.SentDatabaseChanges) {
    for zone in sent.savedZones {
      state.withLock { $0.activity.solve(zone.zoneID.zoneName) }
    }
    for failure in sent.failedZoneSaves {
      switch FailedChange.ofSave(failure.error.code) {
      case .isRetried: break
      case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .sendAgain,
        .sendAgainAFewTimes, .keepForLater, .isDone, .tell:
        tell(
          failure.zone.zoneID.zoneName, code: failure.error.code.rawValue,
          "The zone could not be created; nothing is sent until it is. \(words(failure.error))")
      }
    }
    for (zoneID, error) in sent.failedZoneDeletes {
      tell(
        zoneID.zoneName, code: error.code.rawValue,
        "The zone could not be deleted. \(words(error))")
    }
  }

  /// Settles every change of a batch.
  func recordsSent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ list: any PendingChangeList)
  {
    var work = SentWork()
    for record in sent.savedRecords {
      work.news.add(.saved(record), type: record.recordType)
      work.solved.append(record.recordID.recordName)
    }
    for recordID in sent.deletedRecordIDs { deletionDone(recordID, &work) }
    let purgeIsNews = state.withLock { !$0.metadata.isEmpty }
    for failure in sent.failedRecordSaves {
      saveFailed(failure.record, failure.error, purgeIsNews: purgeIsNews, &work)
    }
    // The dictionary's order differs in every process; the list of pending changes must not.
    let deletions = sent.failedRecordDeletes.sorted { $0.key.recordName < $1.key.recordName }
    for (recordID, error) in deletions { deletionFailed(recordID, error, &work) }

    let freedSpace = !sent.deletedRecordIDs.isEmpty
    let held = state.withLock { state in
      state.activity.saved += sent.savedRecords.count
      state.activity.deleted += sent.deletedRecordIDs.count
      state.activity.sentAgain += work.again.count
      for name in work.solved {
        state.attempts[name] = nil
        state.activity.solve(name)
      }
      return state.activity.problems.contains { $0.code == CKError.Code.quotaExceeded.rawValue }
    }
    if work.isPurged {
      zoneDisappeared(.purged, list)
      return
    }
    deliver(work.news, list)
    if work.needsZone { zoneIsMissing(list) }
    if !work.again.isEmpty { list.add(pendingRecordZoneChanges: work.again) }
    if held && freedSpace { sendHeldAgain(list) }
  }

  /// Hands the engine everything again that was kept for later.
  func sendHeldAgain(_ list: any PendingChangeList) {
    do {
      try handOver(to: list)
      state.withLock { state in
        state.attempts = [:]
      }
    } catch {
      tell(stateFile.url.lastPathComponent, code: 0, "\(error)")
    }
  }

  private func saveFailed(
    _ record: CKRecord, _ error: CKError, purgeIsNews: Bool, _ work: inout SentWork
  ) {
    let recordID = record.recordID
    switch FailedChange.ofSave(error.code) {
    case .isRetried: break
    case .bringTogether:
      if let serverRecord = error.serverRecord {
        work.news.add(.conflict(serverRecord), type: record.recordType)
      } else {
        // Without the other version there is nothing to compare; the next fetch brings it.
        work.again.append(.saveRecord(recordID))
      }
    case .createZone: work.needsZone = true
    case .zoneWasPurged:
      // With tags in the cache the purge is news: what was in the zone goes here too. Without any,
      // the purge was obeyed already, and this is an item made after it.
      if purgeIsNews { work.isPurged = true } else { work.needsZone = true }
    case .recordIsGone:
      if let id = UUID(uuidString: recordID.recordName) {
        work.news.add(.vanished(id), type: record.recordType)
      }
    case .sendAgain: work.again.append(.saveRecord(recordID))
    case .sendAgainAFewTimes: sendAgainAFewTimes(.saveRecord(recordID), recordID, error, &work)
    case .keepForLater, .isDone, .tell:
      tell(recordID.recordName, code: error.code.rawValue, words(error))
    }
  }

  private func deletionFailed(_ recordID: CKRecord.ID, _ error: CKError, _ work: inout SentWork) {
    switch FailedChange.ofDeletion(error.code) {
    case .isRetried: break
    case .isDone: deletionDone(recordID, &work)
    case .sendAgain: work.again.append(.deleteRecord(recordID))
    case .sendAgainAFewTimes: sendAgainAFewTimes(.deleteRecord(recordID), recordID, error, &work)
    case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .keepForLater, .tell:
      tell(recordID.recordName, code: error.code.rawValue, words(error))
    }
  }

  private func deletionDone(_ recordID: CKRecord.ID, _ work: inout SentWork) {
    guard let id = UUID(uuidString: recordID.recordName) else { return }
    // The event does not say the type; to a store without the item it is no news.
    for store in stores { work.news.add(.deletionDone(id), type: store.recordType.rawValue) }
    work.solved.append(recordID.recordName)
  }

  private func sendAgainAFewTimes(
    _ change: CKSyncEngine.PendingRecordZoneChange, _ recordID: CKRecord.ID, _ error: CKError,
    _ work: inout SentWork
  ) {
    let attempts = state.withLock { state in
      state.attempts[recordID.recordName, default: 0] += 1
      return state.attempts[recordID.recordName, default: 0]
    }
    if attempts <= Self.mostAttempts {
      work.again.append(change)
    } else {
      tell(recordID.recordName, code: error.code.rawValue, words(error))
    }
  }

  private func words(_ error: CKError) -> String {
    switch error.code {
    case .quotaExceeded:
      "The account has no space left. The change is kept; free some space, then sync again."
    case .limitExceeded:
      "The item is too large for the cloud. It stays on this device; make it smaller to sync it."
    case .permissionFailure:
      "The account may not change this. The change stays on this device."
    default:
      "The cloud refused the change: \(error.localizedDescription) It stays on this device."
    }
  }
}

/// What the events of one batch leave to do.
private struct SentWork {
  var news = NewsByStore()
  var again: [CKSyncEngine.PendingRecordZoneChange] = []
  var solved: [String] = []
  var needsZone = false
  var isPurged = false
}
