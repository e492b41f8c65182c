import CloudSync
import Foundation
import Synchronization

/// Sending, and the results of it.
extension Replica {
  /// The record to save for a note, or `nil` when there is nothing to save any more.
  func record(_ id: CKRecord.ID, _ engine: CKSyncEngine) -> CKRecord? {
    guard let device else { return nil }
    return contents.withLock { contents in
      guard let row = contents.rows[id], row.note?.isEnding != true, row.isUnsent(by: device) else {
        engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        return nil
      }
      var note = row.note ?? Note(name: id.recordName, devices: deviceCount)
      let record =
        row.server?.copy() as? CKRecord
        ?? CKRecord(recordType: Note.recordType, recordID: id)
      note.version += 1
      note.counts[device] = row.edits
      note.writer = device
      note.isEnding = row.wantsEnd
      if row.wantsFile > note.fileSeed {
        note.fileSeed = row.wantsFile
        let url = upload(id)
        do { try note.file.write(to: url) } catch {
          writes.violation("\(name): a file can't be written: \(error)")
        }
        record["file"] = CKAsset(fileURL: url)
      }
      note.write(to: record)
      return record
    }
  }

  private func upload(_ id: CKRecord.ID) -> URL {
    uploads.appendingPathComponent("\(id.zoneID.zoneName)-\(id.recordName)")
  }

  /// Settles every change of a batch.
  func sent(_ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ engine: CKSyncEngine) {
    for record in sent.savedRecords { saved(record, engine) }
    for id in sent.deletedRecordIDs {
      writes.count(.deletions)
      contents.withLock { $0.remove(id) }
    }
    for failure in sent.failedRecordSaves { failed(failure.record, failure.error, engine) }
    for (id, error) in sent.failedRecordDeletes {
      switch error.code {
      case .unknownItem:
        writes.count(.foundApplied)
        contents.withLock { $0.remove(id) }
      default: retried(error, id)
      }
    }
  }

  private func saved(_ record: CKRecord, _ engine: CKSyncEngine) {
    guard let device, let key = key(record.recordID), let note = Note(record),
      let tag = record.recordChangeTag
    else { return writes.violation("\(name): a saved record is invalid: \(record.recordID)") }
    writes.acknowledged(note, key, tag: tag, to: device)
    try? FileManager.default.removeItem(at: upload(record.recordID))
    absorb(record, note, engine)
  }

  private func failed(_ record: CKRecord, _ error: CKError, _ engine: CKSyncEngine) {
    let id = record.recordID
    switch error.code {
    case .serverRecordChanged:
      guard let device, let server = error.serverRecord, let key = key(id),
        let note = Note(server), let tag = server.recordChangeTag
      else { return writes.violation("\(name): a conflict is invalid: \(id)") }
      writes.saw(note, key, tag: tag)
      absorb(server, note, engine)
      let attempt = Note(record)
      let isThere = attempt.map { note.counts[device] >= $0.counts[device] } ?? false
      writes.count(isThere ? .foundApplied : .conflicts)
      contents.withLock { contents in
        guard let row = contents.rows[id], row.isUnsent(by: device), !row.isBeingDeleted else {
          return
        }
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
      }
    case .unknownItem:
      // Somebody deleted it, which ends all edits.
      writes.foundDeleted(key(id), by: name)
      writes.count(.conflicts)
      contents.withLock { $0.remove(id) }
    default: retried(error, id)
    }
  }

  /// Looks whether an error is one after which the engine tries again by itself.
  private func retried(_ error: CKError, _ id: CKRecord.ID) {
    switch error.code {
    case .networkFailure, .networkUnavailable, .serviceUnavailable, .requestRateLimited,
      .zoneBusy, .serverResponseLost, .operationCancelled:
      break
    default:
      writes.violation("\(name): a change of \(id.recordName) failed for good: \(error)")
    }
  }
}
