import CloudSync
import Foundation
import Synchronization

extension ListsApp {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let scope = syncEngine.database.databaseScope
    switch event {
    case .stateUpdate(let update):
      contents.withLock { $0.states[scope] = update.stateSerialization }
    case .accountChange(let change): apply(change, scope)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions { forget(deletion.zoneID) }
    case .fetchedRecordZoneChanges(let changes):
      apply(changes.modifications.map(\.record))
      for deletion in changes.deletions { remove(deletion.recordID) }
    case .sentRecordZoneChanges(let sent): settle(sent)
    default: break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let pending = state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let record = self.outgoing(id)
      if record == nil { state.remove(pendingRecordZoneChanges: [.saveRecord(id)]) }
      return record
    }
  }

  /// The record that says what the row says, on top of the server's version.
  func outgoing(_ id: CKRecord.ID) -> CKRecord? {
    contents.withLock { contents in
      guard let row = contents.rows[id], let table = contents.tables[row.type] else { return nil }
      let record =
        row.server?.copy() as? CKRecord ?? CKRecord(recordType: row.type, recordID: id)
      for field in table.fields where record[field] as? String != row.values[field] {
        if field == "cover" {
          record[field] = row.values[field].map { CKAsset(fileURL: URL(fileURLWithPath: $0)) }
        } else {
          record[field] = row.values[field]
        }
        record["\(field)_at"] = row.edits[field]
      }
      record["up"] = row.parent?.recordName
      record["up_at"] = row.parentEdit
      if let parent = row.parent, !table.isPrivate, parent.zoneID == id.zoneID {
        record.setParent(parent)
      }
      return record
    }
  }

  private func apply(_ change: CKSyncEngine.Event.AccountChange, _ scope: CKDatabase.Scope) {
    switch change.changeType {
    case .signIn:
      let unknown = contents.withLock { contents in
        contents.rows.filter { $0.value.server == nil }.keys.sorted {
          $0.recordName < $1.recordName
        }
      }
      for id in unknown where database(of: id).databaseScope == scope { enqueue(.saveRecord(id)) }
    case .signOut, .switchAccounts:
      contents.withLock { contents in
        if contents.keepsDataAtSignOut { return }
        contents.rows = [:]
        contents.shares = [:]
      }
    @unknown default: break
    }
  }

  private func forget(_ zone: CKRecordZone.ID) {
    contents.withLock { contents in
      contents.rows = contents.rows.filter { $0.key.zoneID != zone }
      contents.orphans = contents.orphans.filter { $0.key.zoneID != zone }
      contents.shares = contents.shares.filter { $0.key.zoneID != zone }
    }
  }

  /// Takes over records from the server, in whatever order they come.
  func apply(_ records: [CKRecord]) {
    contents.withLock { contents in
      for record in records { contents.take(record) }
      contents.adopt()
    }
  }

  func remove(_ id: CKRecord.ID) {
    contents.withLock { contents in
      contents.rows[id] = nil
      contents.orphans[id] = nil
      contents.opaque[id] = nil
      contents.shares[id] = nil
    }
  }

  private func settle(_ sent: CKSyncEngine.Event.SentRecordZoneChanges) {
    for record in sent.savedRecords {
      contents.withLock { $0.rows[record.recordID]?.server = record }
    }
    for failure in sent.failedRecordSaves { settle(failure) }
    for (id, error) in sent.failedRecordDeletes {
      switch error.code {
      case .referenceViolation: contents.withLock { $0.refetch.append(id) }
      case .batchRequestFailed: enqueue(.deleteRecord(id))
      default: break
      }
    }
  }

  private func settle(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave) {
    let id = failure.record.recordID
    switch failure.error.code {
    case .serverRecordChanged:
      if let server = failure.error.serverRecord { apply([server]) }
    case .batchRequestFailed: break
    case .zoneNotFound, .unknownItem: contents.withLock { $0.rows[id]?.server = nil }
    case .referenceViolation:
      guard contents.withLock({ $0.parentIsGone(id) }) else { return }
    case .permissionFailure:
      return contents.withLock { contents in
        // Back to what the server has.
        let server = contents.rows.removeValue(forKey: id)?.server
        if let server { contents.take(server) }
      }
    default: return
    }
    enqueue(.saveRecord(id))
  }
}

extension ListsApp.Contents {
  /// Takes over one record; it waits when its parent is not there.
  mutating func take(_ record: CKRecord) {
    let id = record.recordID
    if let share = record as? CKShare {
      shares[id] = share
      return
    }
    let parts = id.recordName.split(separator: ":")
    // What other software put into the zone is left alone.
    guard parts.count == 2, parts[0] == record.recordType else { return }
    guard let table = tables[record.recordType] else {
      opaque[id] = record
      return
    }
    var row = rows[id] ?? ListsRow(type: table.name, values: table.defaults)
    for field in table.fields {
      let edited = record["\(field)_at"] as? Int ?? 0
      let value = (record[field] as? CKAsset)?.fileURL?.path ?? record[field] as? String
      let ours = row.edits[field] ?? -1
      let wins = edited > ours || (edited == ours && (value ?? "") >= (row.values[field] ?? ""))
      guard wins, value != nil || edited > 0 else { continue }
      row.values[field] = value
      row.edits[field] = edited
      clock = max(clock, edited)
    }
    let up = record["up_at"] as? Int ?? 0
    if up >= row.parentEdit || row.server == nil {
      row.parent = (record["up"] as? String).flatMap { name in
        rows.keys.first { $0.recordName == name && (table.isPrivate || $0.zoneID == id.zoneID) }
          ?? CKRecord.ID(recordName: name, zoneID: id.zoneID)
      }
      row.parentEdit = up
      clock = max(clock, up)
    }
    row.server = record
    if let parent = row.parent, rows[parent] == nil {
      orphans[id] = record
      rows[id] = nil
      return
    }
    orphans[id] = nil
    rows[id] = row
  }

  /// Takes in the orphans whose parents came.
  mutating func adopt() {
    var before = -1
    while before != orphans.count {
      before = orphans.count
      for record in orphans.values.sorted(by: { $0.recordID.recordName < $1.recordID.recordName }) {
        take(record)
      }
    }
  }

  /// The server says that a row's parent is gone; answers whether the row is to be sent again.
  mutating func parentIsGone(_ id: CKRecord.ID) -> Bool {
    guard let row = rows[id], let table = tables[row.type] else { return false }
    switch table.whenParentGoes {
    case .cascade:
      rows[id] = nil
      return false
    case .setDefault(let name):
      clock += 1
      rows[id]?.parent = CKRecord.ID(recordName: name, zoneID: id.zoneID)
      rows[id]?.parentEdit = clock
      return true
    }
  }
}
