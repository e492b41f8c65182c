import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// The rules of the results: what the cloud's news change here, and what is sent because of them.
extension StoreCore: RecordKeeper {
  /// How often a change is sent again that the cloud refuses on its own account.
  private static let mostAttempts = 3

  func take(_ news: [RecordNews], in scope: CKDatabase.Scope) -> [RecordWish] {
    state.withLock { state in
      news.filter { $0.zoneID ?? ResultRecord.zoneID == ResultRecord.zoneID }
        .flatMap { take($0, &state) }
    }
  }

  private func take(_ news: RecordNews, _ state: inout State) -> [RecordWish] {
    switch news {
    case .signedIn(let user): signedIn(user, &state)
    case .signedOut: signedOut(&state)
    case .switched(let user): switched(to: user, &state)
    case .zoneGone(_, let reason): return zoneDisappeared(reason, &state)
    case .zoneExists: zoneExists(&state)
    case .zoneRefused(_, let error): zoneRefused(error, &state)
    case .zoneMissing: return zoneIsMissing(&state)
    case .zonePurged: return zonePurged(&state)
    case .zoneRead(_, holds: let seen): sweep(seen, &state)
    case .fetched(let record): return accept(record, &state)
    case .conflict(let record): return serverWins(record, &state)
    case .saved(let record):
      state.metadata.keep(record)
      confirm(record.recordID, &state)
    case .removed(let recordID, _): return removed(recordID, &state)
    case .deleted(let recordID):
      state.metadata.drop(recordID.recordName)
      confirm(recordID, &state)
    case .vanished(let recordID):
      state.metadata.drop(recordID.recordName)
      return [.save(recordID)]
    case .postponed(let recordID, let error): postponed(recordID, error, &state)
    case .refused(let recordID, let error): refused(recordID, error, &state)
    }
    return []
  }

  // MARK: Changes of other devices

  /// The server's version of a result replaces the local one; a deletion that waits stays.
  private func accept(_ record: CKRecord, _ state: inout State) -> [RecordWish] {
    let name = record.recordID.recordName
    do {
      let result = try GameResult(reading: record)
      state.metadata.keep(record)
      state.kept.drop(name)
      if state.queue[result.id]?.change == .delete { return [] }
      state.library[result.id] = result
      return dropSave(result.id, &state)
    } catch {
      log(.warning, "The record \(name) was left alone and is kept: \(error).", &state)
      state.kept.keep(record)
      guard let id = UUID(uuidString: name), state.library[id] != nil else { return [] }
      // The cloud's version stands though it can't be read here; don't fight over it.
      state.metadata.keep(record)
      return dropSave(id, &state)
    }
  }

  /// A conflict: results never change, so two versions are a rare accident, and the cloud's stays.
  private func serverWins(_ record: CKRecord, _ state: inout State) -> [RecordWish] {
    state.conflicts += 1
    log(
      .warning, "Conflict for result \(record.recordID.recordName), using server version.", &state)
    state.report.settle()
    return accept(record, &state)
  }

  private func dropSave(_ id: UUID, _ state: inout State) -> [RecordWish] {
    guard state.queue[id]?.change == .save else { return [] }
    state.queue.drop(id)
    state.attempts[id] = nil
    state.refused.remove(id)
    return [.drop(ResultRecord.recordID(id))]
  }

  /// A result that was deleted elsewhere goes here too, unless it was made anew and the cloud
  /// can't have seen that one.
  private func removed(_ recordID: CKRecord.ID, _ state: inout State) -> [RecordWish] {
    state.kept.drop(recordID.recordName)
    guard let id = UUID(uuidString: recordID.recordName) else { return [] }
    let waiting = state.queue[id]
    let isNew =
      waiting?.change == .save && waiting?.wasOffered == false && !state.metadata.contains(recordID)
    state.metadata.drop(recordID.recordName)
    guard !isNew else { return [] }
    state.library[id] = nil
    guard waiting?.change == .delete else { return dropSave(id, &state) }
    state.queue.drop(id)
    return [.drop(recordID)]
  }

  /// After a zone was read from its beginning: what the cloud knew and did not show any more was
  /// deleted while nobody could say so.
  private func sweep(_ seen: Set<CKRecord.ID>, _ state: inout State) {
    let gone = state.library.ids { id in
      let recordID = ResultRecord.recordID(id)
      return !seen.contains(recordID) && state.queue[id] == nil
        && state.metadata.contains(recordID)
    }
    for id in gone {
      state.metadata.drop(id.uuidString)
      state.library[id] = nil
    }
  }

  // MARK: What became of what was sent

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

  private func postponed(_ recordID: CKRecord.ID, _ error: CKError, _ state: inout State) {
    let answer = FailedChange.ofSave(error.code)
    if answer == .isRetried { state.report.note(passing: error) }
    guard let id = UUID(uuidString: recordID.recordName), state.queue[id]?.change == .save
    else { return }
    // Without the other version there is nothing to take over; a fetch brings it.
    if answer == .bringTogether { state.report.needsFetch = true }
    if answer == .sendAgainAFewTimes { state.batchLimit = max(1, state.batchLimit / 2) }
  }

  private func refused(_ recordID: CKRecord.ID, _ error: CKError, _ state: inout State) {
    guard let id = UUID(uuidString: recordID.recordName) else { return }
    let isDeletion = state.queue[id]?.change == .delete
    switch isDeletion ? FailedChange.ofDeletion(error.code) : .ofSave(error.code) {
    case .keepForLater: return storageIsFull(&state)
    case .sendAgainAFewTimes: break
    case .isRetried, .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .sendAgain,
      .isDone, .tell:
      state.attempts[id, default: 0] += 1
      guard state.attempts[id, default: 0] > Self.mostAttempts else {
        state.postponed.insert(id)
        return
      }
    }
    state.refused.insert(id)
    log(
      .error,
      "The cloud refuses result \(id.uuidString): \(error.code). It stays on this device; "
        + "sync by hand to try again.", &state)
  }

  private func zoneRefused(_ error: CKError, _ state: inout State) {
    switch FailedChange.ofSave(error.code) {
    case .isRetried: state.report.note(passing: error)
    case .keepForLater: storageIsFull(&state)
    case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .sendAgain,
      .sendAgainAFewTimes, .isDone, .tell:
      state.report.zoneFailure = error.code
      log(.error, "The zone could not be made: \(error.code).", &state)
    }
  }

  private func storageIsFull(_ state: inout State) {
    guard !state.isStorageFull else { return }
    state.isStorageFull = true
    state.groups = []
    log(.error, "The iCloud storage is full; uploads wait until there is space.", &state)
  }

  // MARK: What is sent

  /// Nothing: each round of a pass hands over what it sends.
  func everythingUnsent(in scope: CKDatabase.Scope) -> [RecordWish] { [] }

  func isUnsent(_ recordID: CKRecord.ID, in scope: CKDatabase.Scope) -> Bool {
    UUID(uuidString: recordID.recordName).map { id in
      state.withLock { $0.queue[id]?.change == .save }
    } ?? false
  }

  /// The changes of the first group that are in scope, at most as many as a batch may hold now.
  func nextGroup(
    in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange]? {
    state.withLock { state in
      while !state.groups.isEmpty {
        let ids = state.groups.removeFirst().filter {
          mayGo($0, state) && scope.contains(ResultRecord.recordID($0))
        }
        if ids.count > state.batchLimit {
          state.groups.insert(Array(ids.dropFirst(state.batchLimit)), at: 0)
        }
        let changes = ids.prefix(state.batchLimit).compactMap { state.queue[$0]?.pendingChange }
        if !changes.isEmpty { return changes }
      }
      return []
    }
  }

  func record(_ recordID: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord? {
    state.withLock { state in
      guard let id = UUID(uuidString: recordID.recordName), state.queue[id]?.change == .save
      else { return nil }
      guard let result = state.library[id] else {
        state.queue.drop(id)
        return nil
      }
      guard let record = state.metadata.record(recordID) else { return result.record() }
      result.copyFields(onto: record)
      return record
    }
  }

  /// Notes which version of each change is under way, and puts back what did not fit.
  func willSend(
    _ batch: CKSyncEngine.RecordZoneChangeBatch, of group: [CKSyncEngine.PendingRecordZoneChange]
  ) {
    let taken = Set(batch.recordsToSave.map(\.recordID) + batch.recordIDsToDelete)
    let ids = taken.compactMap { UUID(uuidString: $0.recordName) }
    let left = group.compactMap { change -> UUID? in
      switch change {
      case .saveRecord(let recordID), .deleteRecord(let recordID):
        taken.contains(recordID) ? nil : UUID(uuidString: recordID.recordName)
      }
    }
    state.withLock { state in
      for id in ids { state.offered[id] = state.queue[id]?.number }
      // On the disk before it is sent: after a crash the answer may be lost, and what another
      // device then deletes must not come back.
      state.queue.noteOffered(ids)
      persist(&state)
      if !left.isEmpty { state.groups.insert(left, at: 0) }
    }
  }
}

extension OfflineQueue.Entry {
  /// The change as the engine spells it.
  var pendingChange: CKSyncEngine.PendingRecordZoneChange {
    switch change {
    case .save: .saveRecord(ResultRecord.recordID(id))
    case .delete: .deleteRecord(ResultRecord.recordID(id))
    }
  }
}
