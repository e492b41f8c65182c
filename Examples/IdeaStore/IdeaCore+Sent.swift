import CloudSync
import Foundation
import SyncSupport

/// What goes into a request, and what became of it.
extension IdeaCore {
  /// The records and IDs of a group, as far as they are still to be sent.
  func batch(_ names: [String], _ state: inout State) -> CKSyncEngine.RecordZoneChangeBatch {
    var batch = CKSyncEngine.RecordZoneChangeBatch()
    for name in names {
      guard let row = state.shelf[name], let idea = row.idea, state.mayGo(row) else { continue }
      state.offered[name] = row.changeNumber
      if row.deletedAt == nil {
        let record = record(for: row)
        idea.copyFields(onto: record, syncedAt: now())
        batch.recordsToSave.append(record)
      } else {
        batch.recordIDsToDelete.append(CKRecord.ID(recordName: name, zoneID: IdeaRecord.zoneID))
      }
    }
    return batch
  }

  /// The record as last seen; a new one, with the fields this version does not know, when the
  /// cloud has none.
  private func record(for row: IdeaRow) -> CKRecord {
    let last = row.archive.flatMap { CKRecord.unarchived($0) }
    if row.tag != nil, let last { return last }
    let record = CKRecord(
      recordType: IdeaRecord.recordType,
      recordID: CKRecord.ID(recordName: row.name, zoneID: IdeaRecord.zoneID))
    for key in last?.allKeys() ?? [] { record[key] = last?.object(forKey: key) }
    return record
  }

  /// Settles every change of a batch.
  func take(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ state: inout State) {
    for record in sent.savedRecords { confirm(record, &state) }
    for id in sent.deletedRecordIDs { confirmDeletion(of: id.recordName, &state) }
    let done = sent.savedRecords.count + sent.deletedRecordIDs.count
    state.sent += done
    if done > 0 { log(.upload, "Changes that reached the cloud: \(done).", &state) }
    for failure in sent.failedRecordSaves {
      failed(failure.record.recordID.recordName, failure.error, &state)
    }
    // The dictionary's order differs in every process; what is done must not.
    for (id, error) in sent.failedRecordDeletes.sorted(by: { $0.key.recordName < $1.key.recordName }
    ) {
      if error.code == .unknownItem {
        confirmDeletion(of: id.recordName, &state)
      } else {
        failed(id.recordName, error, &state)
      }
    }
  }

  private func confirm(_ record: CKRecord, _ state: inout State) {
    let name = record.recordID.recordName
    let number = state.offered.removeValue(forKey: name)
    guard var row = state.shelf[name] else { return }
    state.report.settled += 1
    row.tag = record.recordChangeTag
    row.archive = IdeaRecord.archive(record)
    row.remoteVersion = (record["version"] as? Int64).map { Int($0) }
    row.lastSyncedAt = now().wholeMilliseconds
    // A change made while this one was on its way is still to be sent.
    if row.changeNumber == number { row.isPending = false }
    state.shelf.put(row)
  }

  private func confirmDeletion(of name: String, _ state: inout State) {
    let number = state.offered.removeValue(forKey: name)
    guard var row = state.shelf[name] else { return }
    state.report.settled += 1
    row.tag = nil
    row.remoteVersion = nil
    row.lastSyncedAt = now().wholeMilliseconds
    if row.changeNumber == number { row.isPending = false }
    state.shelf.put(row)
  }

  private func failed(_ name: String, _ error: CKError, _ state: inout State) {
    let number = state.offered.removeValue(forKey: name)
    guard state.shelf[name] != nil else { return }
    switch IdeaErrorRule.rule(for: error.code).handling {
    case .resolve:
      if let record = error.serverRecord {
        if take(record, &state) { state.report.settled += 1 }
      } else {
        state.wants.names.insert(name)
        state.report.passing = state.report.passing ?? error
      }
    case .makeAnew:
      if takeDeletion(of: name, &state) { state.report.settled += 1 }
    case .askForSpace:
      guard !state.isStorageFull else { return }
      state.isStorageFull = true
      log(.failure, "The iCloud storage is full; ideas wait until there is space.", &state)
    case .retry, .waitAMinute, .workOffline:
      state.report.passing = state.report.passing ?? error
    case .sendAgain:
      // The engine halves what is too large; what is too large alone stays so.
      if error.code == .limitExceeded { hold(name, number, error, &state) }
    case .holdBack: hold(name, number, error, &state)
    }
  }

  private func hold(_ name: String, _ number: UInt64?, _ error: CKError, _ state: inout State) {
    state.refused[name] = number ?? state.shelf[name]?.changeNumber
    state.report.settled += 1
    log(
      .failure, "The cloud refuses it: \(error.code) (\(error.code.rawValue)). It stays here.",
      ideaID: UUID(uuidString: name), &state)
  }
}
