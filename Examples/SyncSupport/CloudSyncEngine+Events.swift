public import CloudSync
import Foundation
import Synchronization

extension CloudSyncEngine: RecordKeeper {
  /// Applies a group of events, and returns the changes to send.
  public func take(_ news: [RecordNews], in scope: CKDatabase.Scope) -> [RecordWish] {
    let knewRecords = state.withLock { !$0.metadata.isEmpty }
    var items = NewsByStore()
    var zoneNews: [RecordNews] = []
    for item in news where item.zoneID ?? zoneID == zoneID {
      switch item {
      case .fetched(let record): items.add(.fetched(record), type: record.recordType)
      case .saved(let record): items.add(.saved(record), type: record.recordType)
      case .conflict(let record): items.add(.conflict(record), type: type(ofConflict: record))
      case .removed(let recordID, let type):
        state.withLock { $0.kept.drop(recordID.recordName) }
        guard let id = UUID(uuidString: recordID.recordName) else { continue }
        items.add(.removed(id), type: type)
      case .deleted(let id): addToAll({ .deletionDone($0) }, id, &items)
      case .vanished(let id): addToAll({ .vanished($0) }, id, &items)
      case .zoneRead(_, holds: let seen): addUnseen(seen, &items)
      case .signedIn, .signedOut, .switched, .zoneGone, .zoneMissing, .zonePurged:
        zoneNews.append(item)
      case .zoneExists, .zoneRefused, .postponed, .refused: break
      }
    }
    // With tags in the cache a purge is news: what was in the zone goes here too. Without any, the
    // purge was obeyed already, and the change is an item made after it.
    if knewRecords, zoneNews.contains(where: { if case .zonePurged = $0 { true } else { false } }) {
      return zoneDisappeared(.purged)
    }
    return deliver(items) + zoneNews.flatMap { take($0) }
  }

  private func take(_ news: RecordNews) -> [RecordWish] {
    switch news {
    case .signedIn(let user): signedIn(user)
    case .signedOut: switchAccount(to: nil)
    case .switched(let user): switchAccount(to: user)
    case .zoneGone(_, let reason): zoneDisappeared(reason)
    case .zoneMissing, .zonePurged: uploadEverything()
    case .zoneRead, .zoneExists, .zoneRefused, .fetched, .removed, .saved, .conflict, .vanished,
      .deleted, .postponed, .refused:
      []
    }
  }

  /// The record to send for `recordID`, or `nil` when there is nothing to send any more.
  public func record(_ recordID: CKRecord.ID, in scope: CKDatabase.Scope) -> CKRecord? {
    guard recordID.zoneID == zoneID, let id = UUID(uuidString: recordID.recordName) else {
      return nil
    }
    for store in stores {
      let known = state.withLock { $0.metadata.record(recordID) }
      let record: CKRecord
      if let known, known.recordType == store.recordType.rawValue {
        record = known
      } else {
        record = CKRecord(recordType: store.recordType.rawValue, recordID: recordID)
      }
      if store.copyFields(of: id, onto: record) { return record }
    }
    return nil
  }

  /// Whether a store has an unsent change of the record.
  public func isUnsent(_ recordID: CKRecord.ID, in scope: CKDatabase.Scope) -> Bool {
    guard let id = UUID(uuidString: recordID.recordName) else { return false }
    return stores.contains { $0.isUnsent(id) }
  }

  /// All changes that the stores have to send, stored as handed over.
  public func everythingUnsent(in scope: CKDatabase.Scope) throws -> [RecordWish] {
    var wishes: [RecordWish] = []
    for store in stores {
      let changes = try store.changesToSend()
      wishes += changes.saves.map { .save(recordID($0)) }
      wishes += changes.deletes.map { .delete(recordID($0)) }
    }
    return wishes
  }

  /// Writes the stores, then system fields and kept records.
  ///
  /// In this order, so that no file knows of something that an earlier one could still lose.
  public func writeDown() throws {
    for store in stores { try store.writeDown() }
    // A callback that outlives `stop()` must not bring back what that removed.
    guard isRunning else { return }
    try state.withLock { state in
      try state.metadata.write()
      try state.kept.write()
    }
  }

  /// Whether a store lost its file.
  public var needsFullFetch: Bool { stores.contains { $0.needsFullFetch } }

  /// Clears ``needsFullFetch``.
  public func fullFetchIsCertain() {
    for store in stores { store.fullFetchIsCertain() }
  }

  /// The messages about full storage and about refusals without a message in ``RecordSync``.
  public func message(for error: CKError) -> String? {
    switch error.code {
    case .quotaExceeded:
      "The account has no space left. The change is kept; free some space, then sync again."
    case .limitExceeded, .permissionFailure: nil
    default: "The cloud refused the change: \(error.localizedDescription) It stays on this device."
    }
  }

  /// Passes the kept records to the stores: the app may have been updated since they came.
  func readKeptRecordsAgain() -> [RecordWish] {
    var news = NewsByStore()
    for record in state.withLock({ $0.kept.records }) {
      news.add(.fetched(record), type: record.recordType)
    }
    return deliver(news)
  }

  /// The event does not state the type; a store without the item ignores it.
  private func addToAll(
    _ news: (UUID) -> CloudNews, _ recordID: CKRecord.ID, _ items: inout NewsByStore
  ) {
    guard let id = UUID(uuidString: recordID.recordName) else { return }
    for store in stores { items.add(news(id), type: store.recordType.rawValue) }
  }

  /// The type of the item that met a conflict; a newer version may have given the record another.
  private func type(ofConflict record: CKRecord) -> String {
    let id = UUID(uuidString: record.recordID.recordName)
    let owner = stores.first { store in id.map { store.isUnsent($0) } ?? false }
    return owner?.recordType.rawValue ?? record.recordType
  }

  /// Adds the removal of what the server once had and did not show any more.
  private func addUnseen(_ seen: Set<CKRecord.ID>, _ items: inout NewsByStore) {
    state.withLock { state in
      for name in state.metadata.names {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
        guard !seen.contains(recordID), let id = UUID(uuidString: name),
          let record = state.metadata.record(recordID)
        else { continue }
        items.add(.removed(id), type: record.recordType)
      }
    }
  }

  /// Gives each store its events, and returns the changes that the verdicts ask for.
  private func deliver(_ news: NewsByStore) -> [RecordWish] {
    for type in news.types where !stores.contains(where: { $0.recordType.rawValue == type }) {
      for case .fetched(let record) in news[type] { state.withLock { $0.kept.keep(record) } }
    }
    var wishes: [RecordWish] = []
    for store in stores {
      let items = news[store.recordType.rawValue]
      guard !items.isEmpty else { continue }
      let verdicts = store.take(items)
      state.withLock { state in
        for (item, verdict) in zip(items, verdicts) {
          settle(item, verdict, store.recordType, &state)
          guard let id = item.id else { continue }
          switch verdict.duty {
          case .save: wishes.append(.save(recordID(id)))
          case .delete: wishes.append(.delete(recordID(id)))
          case .none, .forget, .ignore: break
          }
        }
      }
    }
    return wishes
  }

  private func settle(
    _ item: CloudNews, _ verdict: Verdict, _ type: RecordType, _ state: inout State
  ) {
    if verdict.isVisible {
      switch item {
      case .fetched, .conflict: records.note { $0.received += 1 }
      case .removed, .vanished: records.note { $0.removed += 1 }
      case .saved, .deletionDone: break
      }
    }
    switch item {
    case .fetched(let record), .conflict(let record), .saved(let record):
      switch verdict.duty {
      case .none, .save, .delete:
        state.metadata.keep(record)
        state.kept.drop(record.recordID.recordName)
      case .forget:
        state.metadata.drop(record.recordID.recordName)
        state.kept.drop(record.recordID.recordName)
      case .ignore:
        state.kept.keep(record)
        records.tell(
          record.recordID.recordName, code: 0,
          "A \(type.rawValue) record is of a newer version; it is kept for after an update.")
      }
    case .removed(let id), .deletionDone(let id), .vanished(let id):
      state.metadata.drop(id.uuidString)
      state.kept.drop(id.uuidString)
    }
    guard let id = item.id else { return }
    if verdict.isVisible || verdict.resolution == .localWon {
      let change = VisibleChange(id: id, type: type, resolution: verdict.resolution)
      for observer in state.observers.values { observer.yield(change) }
    }
    if let resolution = verdict.resolution {
      records.note {
        $0.note(SyncActivity.Conflict(id: id, type: type.rawValue, resolution: resolution))
      }
    }
  }
}

/// Events by the type of their records, each type's in the order of arrival.
struct NewsByStore {
  private var lists: [String: [CloudNews]] = [:]

  /// The types with events, sorted.
  var types: [String] { lists.keys.sorted() }

  /// The events for the store of `type`.
  subscript(type: String) -> [CloudNews] { lists[type] ?? [] }

  /// Adds an event.
  mutating func add(_ news: CloudNews, type: String) {
    lists[type, default: []].append(news)
  }
}
