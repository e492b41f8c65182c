public import CloudSync
import Foundation
import SyncSupport
import Synchronization

extension GameResultStore: CKSyncEngineDelegate {
  /// Takes one event; events of an engine that was let go are ignored.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    core.state.withLock { state in
      guard state.engine === syncEngine else { return }
      switch event {
      case .accountChange(let change):
        // Before anything else: what belongs to somebody else must not be seen a moment longer.
        if core.accountChanged(change.changeType, &state) { uploads.clear() }
        state.tell()
      case .stateUpdate(let update):
        state.unsavedState = update.stateSerialization
        core.persistUnlessBusy(&state)
      case .fetchedDatabaseChanges(let changes):
        core.zonesChanged(changes, uploads, syncEngine, &state)
      case .fetchedRecordZoneChanges(let changes):
        core.fetched(changes, syncEngine, &state)
      case .sentDatabaseChanges(let sent):
        core.zonesSent(sent, &state)
      case .sentRecordZoneChanges(let sent):
        core.recordsSent(sent, uploads, syncEngine, &state)
        // The next batch or the end of the sending comes by the disk; what a crash before that
        // forgets is that these were confirmed, and a fetch tells that again.
        core.persistUnlessBusy(&state)
      case .willFetchRecordZoneChanges(let fetch):
        if fetch.zoneID == ResultRecord.zoneID { state.sweep = fetch.readsWholeZone ? [] : nil }
      case .didFetchRecordZoneChanges(let fetch):
        if fetch.zoneID == ResultRecord.zoneID { core.finishSweep(fetch.error, &state) }
      case .willFetchChanges, .willSendChanges:
        state.operations += 1
      case .didFetchChanges, .didSendChanges:
        state.operations = max(0, state.operations - 1)
        core.persist(&state)
      }
    }
  }

  /// Gives out the next group, as records of the results as they are now.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    while true {
      let changes = core.state.withLock { state in
        state.engine === syncEngine ? core.nextGroup(context.options.scope, &state) : []
      }
      guard !changes.isEmpty else { return nil }
      let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
        core.state.withLock { core.record(recordID, syncEngine, &$0) }
      }
      guard let batch else { continue }
      core.state.withLock { core.handedOut(batch, of: changes, &$0) }
      return batch
    }
  }
}

extension StoreCore {
  /// The changes of the first group that are in scope, at most as many as a batch may hold now.
  func nextGroup(
    _ scope: CKSyncEngine.SendChangesOptions.Scope, _ state: inout State
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    while !state.groups.isEmpty {
      let group = state.groups.removeFirst()
      let isInScope = { (id: UUID) in scope.contains(ResultRecord.recordID(id)) }
      let ids = group.filter { mayGo($0, state) && isInScope($0) }
      if ids.count > state.batchLimit {
        state.groups.insert(Array(ids.dropFirst(state.batchLimit)), at: 0)
      }
      let changes = ids.prefix(state.batchLimit).compactMap { state.queue[$0]?.pendingChange }
      if !changes.isEmpty { return changes }
    }
    return []
  }

  /// The record to send; `nil` when there is nothing to send any more.
  func record(
    _ recordID: CKRecord.ID, _ engine: CKSyncEngine, _ state: inout State
  ) -> CKRecord? {
    guard let id = UUID(uuidString: recordID.recordName), let result = state.library[id],
      state.queue[id]?.change == .save
    else {
      engine.state.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
      if let id = UUID(uuidString: recordID.recordName), state.queue[id]?.change == .save {
        state.queue.drop(id)
      }
      return nil
    }
    guard let record = state.metadata.record(recordID) else { return result.record() }
    result.copyFields(onto: record)
    return record
  }

  /// Notes which version of each change is under way, and puts back what did not fit.
  func handedOut(
    _ batch: CKSyncEngine.RecordZoneChangeBatch,
    of changes: [CKSyncEngine.PendingRecordZoneChange], _ state: inout State
  ) {
    let taken = Set(batch.recordsToSave.map(\.recordID) + batch.recordIDsToDelete)
    let ids = taken.compactMap { UUID(uuidString: $0.recordName) }
    for id in ids { state.offered[id] = state.queue[id]?.number }
    // On the disk before it is sent: after a crash the answer may be lost, and what another
    // device then deletes must not come back.
    state.queue.noteOffered(ids)
    persist(&state)
    let left = changes.compactMap { change -> UUID? in
      switch change {
      case .saveRecord(let recordID), .deleteRecord(let recordID):
        taken.contains(recordID) ? nil : UUID(uuidString: recordID.recordName)
      }
    }
    if !left.isEmpty { state.groups.insert(left, at: 0) }
  }

  /// Takes in what other devices did, and what this one hears back of itself.
  func fetched(
    _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges, _ engine: CKSyncEngine,
    _ state: inout State
  ) {
    for modification in changes.modifications {
      let record = modification.record
      guard record.recordID.zoneID == ResultRecord.zoneID else { continue }
      if let id = UUID(uuidString: record.recordID.recordName) { state.sweep?.insert(id) }
      accept(record, engine, &state)
    }
    for deletion in changes.deletions where deletion.recordID.zoneID == ResultRecord.zoneID {
      state.kept.drop(deletion.recordID.recordName)
      guard let id = UUID(uuidString: deletion.recordID.recordName) else { continue }
      removed(id, engine, &state)
    }
    state.unwrittenRecords += changes.modifications.count + changes.deletions.count
    persistUnlessBusy(&state)
  }

  /// The server's version of a result replaces the local one; a deletion that waits stays.
  func accept(_ record: CKRecord, _ engine: CKSyncEngine, _ state: inout State) {
    let name = record.recordID.recordName
    do {
      let result = try GameResult(reading: record)
      state.metadata.keep(record)
      state.kept.drop(name)
      if state.queue[result.id]?.change == .delete { return }
      state.library[result.id] = result
      dropSave(result.id, engine, &state)
    } catch {
      log(.warning, "The record \(name) was left alone and is kept: \(error).", &state)
      state.kept.keep(record)
      guard let id = UUID(uuidString: name), state.library[id] != nil else { return }
      // The cloud's version stands though it can't be read here; don't fight over it.
      state.metadata.keep(record)
      dropSave(id, engine, &state)
    }
  }

  private func dropSave(_ id: UUID, _ engine: CKSyncEngine, _ state: inout State) {
    guard state.queue[id]?.change == .save else { return }
    state.queue.drop(id)
    state.attempts[id] = nil
    state.refused.remove(id)
    engine.state.remove(pendingRecordZoneChanges: [.saveRecord(ResultRecord.recordID(id))])
  }

  /// A result that was deleted elsewhere goes here too, unless it was made anew and the cloud
  /// can't have seen that one.
  private func removed(_ id: UUID, _ engine: CKSyncEngine, _ state: inout State) {
    let recordID = ResultRecord.recordID(id)
    let waiting = state.queue[id]
    let isNew =
      waiting?.change == .save && waiting?.wasOffered == false && !state.metadata.contains(recordID)
    state.metadata.drop(recordID.recordName)
    guard !isNew else { return }
    state.library[id] = nil
    dropSave(id, engine, &state)
    if state.queue[id]?.change == .delete {
      state.queue.drop(id)
      engine.state.remove(pendingRecordZoneChanges: [.deleteRecord(recordID)])
    }
  }

  /// After a zone was read from its beginning: what the cloud knew and did not show any more was
  /// deleted while nobody could say so.
  func finishSweep(_ error: CKError?, _ state: inout State) {
    guard let seen = state.sweep else { return }
    state.sweep = nil
    guard error == nil else { return }
    let gone = state.library.ids { id in
      !seen.contains(id) && state.queue[id] == nil
        && state.metadata.contains(ResultRecord.recordID(id))
    }
    for id in gone {
      state.metadata.drop(ResultRecord.recordID(id).recordName)
      state.library[id] = nil
    }
  }
}
