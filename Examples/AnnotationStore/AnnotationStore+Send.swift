import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Sending: the changes that wait, parents first, in batches.
extension AnnotationStore {
  /// How often the remaining changes are sent in one sync; a contradiction takes one more round.
  private static let mostRounds = 8

  /// The result of a batch.
  private struct BatchReport {
    /// The number of changes that are done, or were merged.
    var settled = 0
    /// A failure that may pass, and that the rest of this sync would have, too.
    var failure: CKError?
    var isZoneLost = false
  }

  /// Sends the changes that wait, until none is left that can be sent now.
  func send(_ generation: Int) async throws {
    for _ in 0..<Self.mostRounds {
      let items = itemsToSend
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
    if state.withLock({ $0.isStorageFull && !$0.tables.waiting.isEmpty }) {
      throw CKError(.quotaExceeded)
    }
  }

  /// The items whose change can be sent now: removals with children first, then saves with parents
  /// first.
  private var itemsToSend: [StoredItem] {
    let waiting = state.withLock { state in
      state.tables.waiting.filter { item in
        item.dispute == nil && item.refusal == nil
          && (item.isPurged || (!state.isStorageFull && item.mine != nil))
      }
    }
    func ordered(_ isPurged: Bool) -> [StoredItem] {
      ItemKind.allCases.flatMap { kind in
        waiting.filter { $0.kind == kind && $0.isPurged == isPurged }
      }
    }
    return ordered(true).reversed() + ordered(false)
  }

  /// Sends changes to one database; returns how many are settled.
  private func send(
    _ items: [StoredItem], _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws -> Int {
    var settled = 0
    var rest = items[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(state.withLock { $0.batchSize }))
      var report = BatchReport()
      do {
        report = try await send(batch, container.database(with: scope), generation)
      } catch let error as CKError where error.code == .limitExceeded {
        guard batch.count == 1 else {
          state.withLock { $0.batchSize = max(1, batch.count / 2) }
          continue
        }
        try transaction(in: generation) { refuse(batch[0], error, &$0) }
      }
      rest = rest.dropFirst(batch.count)
      settled += report.settled
      if report.isZoneLost { throw PassError.zoneLost }
      if let failure = report.failure { throw failure }
      if state.withLock({ $0.isStorageFull }) { rest = rest.filter(\.isPurged)[...] }
    }
    return settled
  }

  private func send(
    _ batch: [StoredItem], _ database: CKDatabase, _ generation: Int
  ) async throws -> BatchReport {
    let settings = settings
    let owner = settings.owner ?? ""
    let policy = Self.savePolicy(settings.strategy)
    // What is about to be sent is stored, so that it is recognized if no answer is received.
    try transaction(in: generation) { tables in
      for sent in batch where !sent.isPurged {
        guard var item = tables.items[sent.id] else { continue }
        item.offer(signed(sent.fields, by: owner))
        tables.replace(item)
      }
    }
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
    var report = BatchReport()
    try transaction(in: generation) { tables in
      for sent in batch {
        do {
          if let result = results.deleteResults[sent.recordID] {
            try result.get()
            confirmRemoval(sent, &tables, &report)
          } else if let result = results.saveResults[sent.recordID] {
            confirm(sent, try result.get(), policy, &tables, &report)
          }
        } catch {
          let error = error as? CKError ?? CKError(.internalError)
          if sent.isPurged {
            removalFailed(sent, error, &tables, &report)
          } else {
            let other = theirs.first { $0.id == sent.id }
            saveFailed(sent, error, other, at: date, &tables, &report)
          }
        }
      }
    }
    if report.failure?.code == .quotaExceeded {
      report.failure = nil
      state.withLock { $0.isStorageFull = true }
    }
    return report
  }

  private func signed(_ fields: Fields, by owner: String) -> Fields {
    var signed = fields
    if fields[text: "ownerID"] == "" { signed[text: "ownerID"] = owner }
    return signed
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
    let known = item.cloud.flatMap { CKRecord.unarchived($0.system) }
    let record =
      known ?? CKRecord(recordType: item.kind.rawValue, recordID: item.recordID)
    let fields = signed(item.fields, by: owner)
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

  // MARK: Answers

  /// The server has what was sent; an edit made meanwhile stays and waits.
  private func confirm(
    _ sent: StoredItem, _ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy,
    _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.settled += 1
    tables.metrics.uploadCount += 1
    guard var item = tables.items[sent.id] else { return }
    var fields = record.plainFields
    fields["mediaAsset"] = sent.fields["mediaAsset"]
    var copy = CloudCopy(record, fields: fields)
    // The changes of others under a save that overwrites are not known here: they are fetched.
    if policy == .changedKeys { copy.tag = nil }
    item.cloud = copy
    item.offered = nil
    item.refusal = nil
    if item.change == sent.change {
      item.mine = nil
      item.change = nil
    } else {
      item.mine = item.mine.map { signed($0, by: fields[text: "ownerID"] ?? "") }
    }
    tables.replace(item)
  }

  private func confirmRemoval(
    _ sent: StoredItem, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.settled += 1
    tables.metrics.uploadCount += 1
    tables.remove(sent.id)
  }

  private func removalFailed(
    _ sent: StoredItem, _ error: CKError, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    switch error.code {
    case .unknownItem, .zoneNotFound, .userDeletedZone:
      confirmRemoval(sent, &tables, &report)
    case .serverRecordChanged, .limitExceeded, .batchRequestFailed: break
    case .quotaExceeded: report.failure = error
    case .referenceViolation: backToTrash(sent, &tables, &report)
    case _ where RetryPlan.isRetried(error): report.failure = report.failure ?? error
    default: refuse(sent, error, &tables)
    }
  }

  /// Another device added a child to an item that this device removes permanently.
  ///
  /// A child that is being removed, too, goes first. Otherwise the item stays in the trash, and
  /// emptying it finds it again.
  private func backToTrash(
    _ sent: StoredItem, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    guard let item = tables.items[sent.id],
      !tables.childIDs(of: item.id).contains(where: { tables.items[$0]?.isPurged == true })
    else { return }
    report.settled += 1
    tables.put(item, waits: item.mine == nil ? nil : .save)
  }

  private func saveFailed(
    _ sent: StoredItem, _ error: CKError, _ theirs: StoredItem?, at date: Date,
    _ tables: inout Tables, _ report: inout BatchReport
  ) {
    func merged(_ result: TakeResult) {
      report.settled += 1
      if result.isConflict { tables.metrics.conflictCount += 1 }
    }
    switch error.code {
    case .serverRecordChanged:
      if let theirs { merged(tables.take(theirs, at: date)) }
    case .unknownItem: merged(tables.takeRemoval(sent.id, owner: sent.owner, at: date))
    case .zoneNotFound, .userDeletedZone:
      // The owner of a shared zone ended the sharing; the next fetch removes the rest, too.
      if sent.owner == nil { report.isZoneLost = true } else { tables.remove(sent.id) }
    case .batchRequestFailed: break
    case .quotaExceeded: report.failure = error
    case .referenceViolation where sent.parent.flatMap { tables.items[$0]?.change } != nil:
      // Its parent was not saved either: both are sent again.
      break
    case _ where RetryPlan.isRetried(error): report.failure = report.failure ?? error
    default: refuse(sent, error, &tables)
    }
  }

  private func refuse(_ sent: StoredItem, _ error: CKError, _ tables: inout Tables) {
    tables.metrics.errorCount += 1
    guard var item = tables.items[sent.id] else { return }
    item.refusal = Refusal(code: error.code.rawValue, message: Self.words(error))
    tables.replace(item)
  }

  private static func words(_ error: CKError) -> String {
    switch error.code {
    case .limitExceeded:
      "It is too large for the cloud; it stays on this device. Make it or its file smaller."
    case .permissionFailure:
      "This account may not change it any more; the edit stays on this device. Ask the owner, or "
        + "discard the edit."
    case .referenceViolation:
      "What it hangs under is gone from the cloud; move it to another layer."
    case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
      "Its file can't be read; attach it again."
    default:
      "The cloud refused it: \(error.localizedDescription) It stays on this device."
    }
  }
}
