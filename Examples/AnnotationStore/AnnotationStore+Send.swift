import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Sending: the changes that wait, parents first, in batches.
extension AnnotationStore {
  /// How often the remaining changes are sent in one sync; a contradiction takes one more round.
  private static let mostRounds = 8

  /// A change in flight.
  private struct Parcel {
    var item: StoredItem
    var change: QueuedChange

    var isDeletion: Bool { change.change == .delete }
  }

  /// The result of a batch.
  private struct BatchReport {
    var metrics = SyncMetrics()
    /// The number of changes that are done, or were merged.
    var settled = 0
    /// A failure that may pass, and that the rest of this sync would have, too.
    var failure: CKError?
    var isZoneLost = false
  }

  /// Sends the changes that wait, until none is left that can be sent now.
  func send(_ generation: Int) async throws {
    for _ in 0..<Self.mostRounds {
      let parcels = parcels()
      if parcels.isEmpty { break }
      // An account's items must never reach another account.
      guard try await attempt({ try await self.container.userRecordID().recordName }) == account
      else { throw PassError.accountChanged }
      var settled = 0
      for scope in [CKDatabase.Scope.private, .shared] {
        let inScope = parcels.filter { ($0.item.owner == nil) == (scope == .private) }
        settled += try await send(inScope, scope, generation)
      }
      if settled == 0 { break }
    }
    if state.withLock({ $0.isStorageFull && !$0.tables.queue.isEmpty }) {
      throw CKError(.quotaExceeded)
    }
  }

  /// The changes that can be sent now: removals with children first, then saves with parents first.
  private func parcels() -> [Parcel] {
    let waiting = state.withLock { state in
      state.tables.waiting.map { Parcel(item: $0.item, change: $0.change) }.filter { parcel in
        parcel.item.dispute == nil && parcel.item.refusal == nil
          && (parcel.isDeletion || (!state.isStorageFull && parcel.item.mine != nil))
      }
    }
    func ordered(_ isDeletion: Bool) -> [Parcel] {
      ItemKind.allCases.flatMap { kind in
        waiting.filter { $0.item.kind == kind && $0.isDeletion == isDeletion }
      }
    }
    return ordered(true).reversed() + ordered(false)
  }

  /// Sends changes to one database; returns how many are settled.
  private func send(
    _ parcels: [Parcel], _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws -> Int {
    var settled = 0
    var rest = parcels[...]
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
        try transaction(in: generation) { refuse(batch[0], error, &$0, &report) }
      }
      rest = rest.dropFirst(batch.count)
      settled += report.settled
      state.withLock { $0.metrics.add(report.metrics) }
      if report.isZoneLost { throw PassError.zoneLost }
      if let failure = report.failure { throw failure }
      if state.withLock({ $0.isStorageFull }) { rest = rest.filter(\.isDeletion)[...] }
    }
    return settled
  }

  private func send(
    _ batch: [Parcel], _ database: CKDatabase, _ generation: Int
  ) async throws -> BatchReport {
    let settings = settings
    let owner = settings.owner ?? ""
    let policy = Self.savePolicy(settings.strategy)
    // What is about to be sent is stored, so that it is recognized if no answer is received.
    try transaction(in: generation) { tables in
      for parcel in batch where !parcel.isDeletion {
        guard var item = tables.items[parcel.item.id] else { continue }
        item.offer(signed(parcel.item.fields, by: owner))
        tables.replace(item)
      }
    }
    let results = try await attempt {
      // New ones for each attempt: a record that failed may have the server's answer in it.
      let records = batch.filter { !$0.isDeletion }.map { record($0.item, signedBy: owner) }
      return try await database.modifyRecords(
        saving: records, deleting: batch.filter(\.isDeletion).map(\.item.recordID),
        savePolicy: policy, atomically: false)
    }
    // Files are moved before the store is locked.
    let theirs = try results.saveResults.values.compactMap { result -> Arrival? in
      guard case .failure(let error as CKError) = result else { return nil }
      return try error.serverRecord.flatMap { try arrival($0) }
    }
    let date = moment()
    var report = BatchReport()
    try transaction(in: generation) { tables in
      let rules = MergeRules(strategy: tables.settings.strategy, now: date)
      for parcel in batch {
        let id = parcel.item.recordID
        do {
          if parcel.isDeletion {
            guard let result = results.deleteResults[id] else { continue }
            try result.get()
            confirmRemoval(parcel, &tables, &report)
          } else {
            guard let result = results.saveResults[id] else { continue }
            confirm(parcel, try result.get(), policy, &tables, &report)
          }
        } catch {
          let error = error as? CKError ?? CKError(.internalError)
          if parcel.isDeletion {
            removalFailed(parcel, error, &tables, &report)
          } else {
            let other = theirs.first { $0.id == parcel.item.id }
            saveFailed(parcel, error, other, rules, &tables, &report)
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
    _ parcel: Parcel, _ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy,
    _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.settled += 1
    report.metrics.uploadCount += 1
    guard var item = tables.items[parcel.item.id] else { return }
    var fields = record.plainFields
    fields["mediaAsset"] = parcel.item.fields["mediaAsset"]
    var copy = CloudCopy(record, fields: fields)
    // The changes of others under a save that overwrites are not known here: they are fetched.
    if policy == .changedKeys { copy.tag = nil }
    item.cloud = copy
    item.offered = nil
    item.refusal = nil
    if tables.settle(item.id, number: parcel.change.number) {
      item.mine = nil
    } else {
      item.mine = item.mine.map { signed($0, by: fields[text: "ownerID"] ?? "") }
    }
    tables.replace(item)
  }

  private func confirmRemoval(
    _ parcel: Parcel, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.settled += 1
    report.metrics.uploadCount += 1
    tables.remove(parcel.item.id)
  }

  private func removalFailed(
    _ parcel: Parcel, _ error: CKError, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    switch error.code {
    case .unknownItem, .zoneNotFound, .userDeletedZone:
      confirmRemoval(parcel, &tables, &report)
    case .serverRecordChanged, .limitExceeded, .batchRequestFailed: break
    case .quotaExceeded: report.failure = error
    case .referenceViolation: backToTrash(parcel, &tables, &report)
    case _ where RetryPlan.isRetried(error): report.failure = report.failure ?? error
    default: refuse(parcel, error, &tables, &report)
    }
  }

  /// Another device added a child to an item that this device removes permanently.
  ///
  /// A child that is being removed, too, goes first. Otherwise the item stays in the trash, and
  /// emptying it finds it again.
  private func backToTrash(
    _ parcel: Parcel, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    guard var item = tables.items[parcel.item.id],
      !tables.childIDs(of: item.id).contains(where: { tables.items[$0]?.isPurged == true })
    else { return }
    report.settled += 1
    item.isPurged = false
    tables.put(item, waits: item.mine == nil ? nil : .save)
  }

  private func saveFailed(
    _ parcel: Parcel, _ error: CKError, _ theirs: Arrival?, _ rules: MergeRules,
    _ tables: inout Tables, _ report: inout BatchReport
  ) {
    let (id, owner) = (parcel.item.id, parcel.item.owner)
    func merged(_ result: TakeResult) {
      report.settled += 1
      if result.isConflict { report.metrics.conflictCount += 1 }
    }
    switch error.code {
    case .serverRecordChanged:
      if let theirs { merged(tables.take(theirs, owner: owner, rules)) }
    case .unknownItem: merged(tables.takeRemoval(id, owner: owner, rules))
    case .zoneNotFound, .userDeletedZone:
      // The owner of a shared zone ended the sharing; the next fetch removes the rest, too.
      if owner == nil { report.isZoneLost = true } else { tables.remove(id) }
    case .batchRequestFailed: break
    case .quotaExceeded: report.failure = error
    case .referenceViolation where parcel.item.parent.map { tables.queue[$0] != nil } == true:
      // Its parent was not saved either: both are sent again.
      break
    case _ where RetryPlan.isRetried(error): report.failure = report.failure ?? error
    default: refuse(parcel, error, &tables, &report)
    }
  }

  private func refuse(
    _ parcel: Parcel, _ error: CKError, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.metrics.errorCount += 1
    guard var item = tables.items[parcel.item.id] else { return }
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
