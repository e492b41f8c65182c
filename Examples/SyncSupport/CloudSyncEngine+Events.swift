public import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine: CKSyncEngineDelegate {
  /// Takes one event; events of an engine that was let go are ignored.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard state.withLock({ $0.engine === syncEngine }) else { return }
    take(event, syncEngine.state)
  }

  /// Builds the next batch from the stores' items as they are now.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard state.withLock({ $0.engine === syncEngine }) else { return nil }
    return await batch(context.options.scope, syncEngine.state)
  }

  /// Does what an event asks for; the whole logic, without an engine.
  func take(_ event: CKSyncEngine.Event, _ list: any PendingChangeList) {
    switch event {
    case .stateUpdate(let update):
      save(update.stateSerialization)
    case .accountChange(let change):
      accountChanged(change.changeType, list)
      writeDownOrTell()
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions where deletion.zoneID == zoneID {
        zoneDisappeared(deletion.reason, list)
        writeDownOrTell()
      }
    case .fetchedRecordZoneChanges(let changes):
      noteSeen(changes)
      fetched(changes, list)
      writeDownUnlessBusy()
    case .sentDatabaseChanges(let sent):
      zonesSent(sent)
    case .sentRecordZoneChanges(let sent):
      recordsSent(sent, list)
      writeDownUnlessBusy()
    case .willFetchChanges, .willSendChanges:
      state.withLock { $0.operations += 1 }
    case .didFetchChanges, .didSendChanges:
      state.withLock { $0.operations = max(0, $0.operations - 1) }
      writeDownOrTell()
    case .willFetchRecordZoneChanges(let fetch):
      beginSweep(fetch)
    case .didFetchRecordZoneChanges(let fetch):
      finishSweep(fetch, list)
    }
  }

  /// The next batch in `scope`, or `nil` when there is nothing to send.
  func batch(
    _ scope: CKSyncEngine.SendChangesOptions.Scope, _ list: any PendingChangeList
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await list.nextBatch(in: scope) { recordID in self.record(recordID, list) }
  }

  /// The record to send for `recordID`, or `nil` when there is nothing to send any more.
  private func record(_ recordID: CKRecord.ID, _ list: any PendingChangeList) -> CKRecord? {
    let id = recordID.zoneID == zoneID ? UUID(uuidString: recordID.recordName) : nil
    for store in stores {
      guard let id else { break }
      let known = state.withLock { $0.metadata.record(recordID) }
      let record: CKRecord
      if let known, known.recordType == store.recordType.rawValue {
        record = known
      } else {
        record = CKRecord(recordType: store.recordType.rawValue, recordID: recordID)
      }
      if store.copyFields(of: id, onto: record) { return record }
    }
    list.remove(pendingRecordZoneChanges: [.saveRecord(recordID)])
    // An edit may have come between the question and the removal; it must not be lost.
    if let id, stores.contains(where: { $0.isUnsent(id) }) {
      list.add(pendingRecordZoneChanges: [.saveRecord(recordID)])
    }
    return nil
  }

  private func fetched(
    _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges, _ list: any PendingChangeList
  ) {
    var news = NewsByStore()
    for modification in changes.modifications where modification.record.recordID.zoneID == zoneID {
      news.add(.fetched(modification.record), type: modification.record.recordType)
    }
    for deletion in changes.deletions where deletion.recordID.zoneID == zoneID {
      state.withLock { $0.kept.drop(deletion.recordID.recordName) }
      guard let id = UUID(uuidString: deletion.recordID.recordName) else { continue }
      news.add(.removed(id), type: deletion.recordType)
    }
    deliver(news, list)
  }

  /// Shows the stores what no store could read when it came: the app may have been updated since.
  func readKeptRecordsAgain(_ list: any PendingChangeList) {
    var news = NewsByStore()
    for record in state.withLock({ $0.kept.records }) {
      news.add(.fetched(record), type: record.recordType)
    }
    deliver(news, list)
  }

  /// Gives each store its news and does what the verdicts leave to do.
  func deliver(_ news: NewsByStore, _ list: any PendingChangeList) {
    for type in news.types where store(type) == nil {
      for case .fetched(let record) in news[type] { state.withLock { $0.kept.keep(record) } }
    }
    var changes: [CKSyncEngine.PendingRecordZoneChange] = []
    for store in stores {
      let items = news[store.recordType.rawValue]
      guard !items.isEmpty else { continue }
      let verdicts = store.take(items)
      state.withLock { state in
        for (item, verdict) in zip(items, verdicts) {
          settle(item, verdict, store.recordType, &state)
          guard let id = item.id else { continue }
          switch verdict.duty {
          case .save: changes.append(.saveRecord(recordID(id)))
          case .delete: changes.append(.deleteRecord(recordID(id)))
          case .none, .forget, .ignore: break
          }
        }
      }
    }
    if !changes.isEmpty { list.add(pendingRecordZoneChanges: changes) }
  }

  private func settle(
    _ item: CloudNews, _ verdict: Verdict, _ type: RecordType, _ state: inout State
  ) {
    if verdict.isVisible {
      switch item {
      case .fetched, .conflict: state.activity.received += 1
      case .removed, .vanished: state.activity.removed += 1
      case .saved, .deletionDone: break
      }
    }
    switch item {
    case .fetched(let record), .conflict(let record), .saved(let record):
      switch verdict.duty {
      case .none, .save, .delete:
        state.metadata.remember(record)
        state.kept.drop(record.recordID.recordName)
      case .forget:
        state.metadata.forget(record.recordID.recordName)
        state.kept.drop(record.recordID.recordName)
      case .ignore:
        state.kept.keep(record)
        state.activity.note(
          SyncActivity.Problem(
            name: record.recordID.recordName, code: 0,
            message:
              "A \(type.rawValue) record is of a newer version; it is kept for after an update."
          ))
      }
    case .removed(let id), .deletionDone(let id), .vanished(let id):
      state.metadata.forget(id.uuidString)
      state.kept.drop(id.uuidString)
    }
    guard let id = item.id else { return }
    if verdict.isVisible || verdict.resolution == .localWon {
      let change = VisibleChange(id: id, type: type, resolution: verdict.resolution)
      for observer in state.observers.values { observer.yield(change) }
    }
    if let resolution = verdict.resolution {
      state.activity.note(
        SyncActivity.Conflict(id: id, type: type.rawValue, resolution: resolution))
    }
  }

  private func writeDownUnlessBusy() {
    if state.withLock({ $0.operations == 0 }) { writeDownOrTell() }
  }
}

/// News sorted by the type of the records they are about, each type's in the order they came.
struct NewsByStore {
  private var lists: [String: [CloudNews]] = [:]

  /// The types there is news of, in an order every run repeats.
  var types: [String] { lists.keys.sorted() }

  /// The news for the store of `type`.
  subscript(type: String) -> [CloudNews] { lists[type] ?? [] }

  /// Adds a piece of news; a type without a store is never asked for.
  mutating func add(_ news: CloudNews, type: String) {
    lists[type, default: []].append(news)
  }
}
