import Foundation
import SyncSupport
import Synchronization

/// Sending: the changes that wait, parents first, in batches.
extension AnnotationStore {
  /// How often the remaining changes are sent in one sync; a contradiction takes one more round.
  private static let mostRounds = 8

  /// Sends the changes that wait, until none is left that can be sent now.
  func send(_ generation: Int) async throws {
    for _ in 0..<Self.mostRounds {
      let items = state.withLock { $0.tables.itemsToSend }
      if items.isEmpty { break }
      // An account's items must never reach another account.
      guard try await attempt({ try await self.container.userRecordID().recordName }) == account
      else { throw PassError.accountChanged }
      var settled = 0
      for scope in [CKDatabase.Scope.private, .shared] {
        let inScope = items.filter { ($0.owner == nil) == (scope == .private) }
        settled += try await send(inScope, scope, generation)
      }
      if settled == 0 { break }
    }
    if state.withLock({ $0.tables.isStorageFull && !$0.tables.waiting.isEmpty }) {
      throw CKError(.quotaExceeded)
    }
  }

  /// Sends changes to one database; returns how many are settled.
  private func send(
    _ items: [StoredItem], _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws -> Int {
    var settled = 0
    var rest = items[...]
    while !rest.isEmpty {
      let next = rest.prefix(state.withLock { $0.batchSize })
      let batch = try offer(next, generation)
      var report = SendReport()
      do {
        if !batch.isEmpty {
          report = try await send(batch, container.database(with: scope), generation)
        }
      } catch let error as CKError where error.code == .limitExceeded {
        guard batch.count == 1 else {
          state.withLock { $0.batchSize = batch.count / 2 }
          continue
        }
        try transaction(in: generation) { $0.refuse(batch[0], error) }
      }
      rest = rest.dropFirst(next.count)
      // A change that was replaced meanwhile counts as settled; the next round sends the new one.
      settled += report.settled + next.count - batch.count
      if report.isZoneLost { throw PassError.zoneLost }
      if let failure = report.failure { throw failure }
      if isStorageFull { rest = rest.filter(\.isPurged)[...] }
    }
    return settled
  }

  /// Stores what is about to be sent, so that it is recognized if no answer is received.
  ///
  /// - Returns: the changes to send, without those that were replaced meanwhile.
  private func offer(_ items: ArraySlice<StoredItem>, _ generation: Int) throws -> [StoredItem] {
    try transaction(in: generation) { tables in
      let batch = items.filter { tables.items[$0.id]?.change == $0.change }
      let owner = tables.settings.owner ?? ""
      for var item in batch.compactMap({ tables.items[$0.id] }) where !item.isPurged {
        item.offer(item.fields.signed(by: owner))
        tables.replace(item)
      }
      return batch
    }
  }

  private func send(
    _ batch: [StoredItem], _ database: CKDatabase, _ generation: Int
  ) async throws -> SendReport {
    let settings = settings
    let owner = settings.owner ?? ""
    let policy = Self.savePolicy(settings.strategy)
    let results = try await attempt {
      // New ones for each attempt: a record that failed may have the server's answer in it.
      let records = batch.filter { !$0.isPurged }.map { record($0, signedBy: owner) }
      return try await database.modifyRecords(
        saving: records, deleting: batch.filter(\.isPurged).map(\.recordID),
        savePolicy: policy, atomically: false)
    }
    // Files are moved before the store is locked.
    let theirs = try batch.compactMap { sent -> StoredItem? in
      guard case .failure(let error as CKError)? = results.saveResults[sent.recordID] else {
        return nil
      }
      return try error.serverRecord.flatMap { try item($0, sent.owner) }
    }
    let date = moment()
    return try transaction(in: generation) { tables in
      var report = SendReport()
      for sent in batch {
        do {
          if let result = results.deleteResults[sent.recordID] {
            try result.get()
            tables.confirmRemoval(sent, &report)
          } else if let result = results.saveResults[sent.recordID] {
            tables.confirm(sent, try result.get(), policy, &report)
          }
        } catch {
          let error = error as? CKError ?? CKError(.internalError)
          tables.takeFailure(of: sent, error, theirs.first { $0.id == sent.id }, at: date, &report)
        }
      }
      if report.failure?.code == .quotaExceeded {
        report.failure = nil
        tables.isStorageFull = true
      }
      return report
    }
  }

  /// The way in which records are saved under a strategy.
  ///
  /// `.changedKeys` overwrites the changed fields without a check, for the strategy in which this
  /// device always wins. All others need the other version first, or the last one to arrive would
  /// win instead of the last edit.
  static func savePolicy(
    _ strategy: ConflictStrategy
  ) -> CKModifyRecordsOperation.RecordSavePolicy {
    strategy.alwaysKeepsMine ? .changedKeys : .ifServerRecordUnchanged
  }

  /// The record to save; only the fields that differ from the server's are set.
  func record(_ item: StoredItem, signedBy owner: String) -> CKRecord {
    let known = item.cloud.flatMap { CKRecord(archive: $0.system) }
    let record =
      known ?? CKRecord(recordType: item.kind.rawValue, recordID: item.recordID)
    let fields = item.fields.signed(by: owner)
    let before = known == nil ? [:] : item.cloud?.fields ?? [:]
    for key in Set(fields.keys).union(before.keys).sorted() where fields[key] != before[key] {
      if fields[media: key] == MediaFolder.unavailable { continue }
      record.set(fields[key], forKey: key, media: media)
    }
    if let field = item.kind.parent?.field, let parent = fields[link: field],
      fields[field] != before[field]
    {
      // A share covers the children of its layer because of this.
      record.setParent(AnnotationZone.recordID(parent, owner: item.owner))
    }
    return record
  }
}
