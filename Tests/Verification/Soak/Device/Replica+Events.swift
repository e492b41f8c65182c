import CloudSync
import Foundation
import Synchronization

extension Replica: CKSyncEngineDelegate {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .fetchedRecordZoneChanges(let changes): fetched(changes, syncEngine)
    case .sentRecordZoneChanges(let changes): sent(changes, syncEngine)
    case .accountChange(let change):
      switch change.changeType {
      case .signIn: break
      case .signOut, .switchAccounts: writes.violation("\(name) lost its account: \(change)")
      }
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions {
        writes.violation("\(name) lost a zone: \(deletion.zoneID.zoneName)")
      }
    case .sentDatabaseChanges(let changes):
      writes.violation("\(name) sent zones: \(changes)")
    case .stateUpdate, .willFetchChanges, .willFetchRecordZoneChanges,
      .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
      break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let pending = syncEngine.state.pendingRecordZoneChanges.filter { scope.contains($0) }
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      self.record(id, syncEngine)
    }
  }

  private func fetched(
    _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges, _ engine: CKSyncEngine
  ) {
    writes.count(.fetched, changes.modifications.count + changes.deletions.count)
    for modification in changes.modifications {
      let record = modification.record
      guard record.recordType == Note.recordType else { continue }
      guard let key = key(record.recordID), let note = Note(record),
        let tag = record.recordChangeTag
      else {
        writes.violation("\(name): a fetched record is invalid: \(record.recordID)")
        continue
      }
      writes.saw(note, key, tag: tag)
      checkFile(of: record, note, key)
      absorb(record, note, engine)
    }
    for deletion in changes.deletions where deletion.recordType == Note.recordType {
      let id = deletion.recordID
      writes.foundDeleted(key(id), by: name)
      contents.withLock { contents in
        contents.remove(id)
        engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id), .deleteRecord(id)])
      }
    }
  }

  /// Takes in what the server has, unless something later is known, and sends the deletion of
  /// what this device has ended.
  func absorb(_ record: CKRecord, _ note: Note, _ engine: CKSyncEngine) {
    let id = record.recordID
    contents.withLock { contents in
      var row = contents.rows[id] ?? Row()
      if let known = row.note, known.version >= note.version { return }
      row.note = note
      row.server = record
      if note.isEnding, note.writer == device, !row.isBeingDeleted, let key = key(id) {
        row.isBeingDeleted = true
        writes.deleting(key)
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
      }
      contents.note(id, row)
    }
  }

  /// Compares a file with what the note says of it, and cleans up.
  private func checkFile(of record: CKRecord, _ note: Note, _ key: NoteKey) {
    guard let asset = record["file"] as? CKAsset else { return }
    guard let url = asset.fileURL, let content = try? Data(contentsOf: url) else {
      // The file was replaced before it was fetched; the later version comes with its own.
      if device == nil { writes.violation("\(key) comes without its file") }
      return
    }
    if content != note.file { writes.violation("\(key) has the wrong file") }
    writes.count(.files)
    try? FileManager.default.removeItem(at: url)
  }
}
