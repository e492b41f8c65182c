import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Sending: what waits, parents first, in batches.
extension AnnotationStore {
  /// How often what is left is sent again within one pass; a contradiction takes one more round.
  private static let mostRounds = 8

  /// One change on its way.
  struct Parcel: Sendable {
    var item: StoredItem
    var entry: OfflineQueue.Entry

    var isDeletion: Bool { entry.change == .delete }
  }

  /// What a batch left to do.
  struct BatchReport {
    var settled = 0
    var uploads = 0
    var conflicts = 0
    var refusals = 0
    /// A failure that may pass, and that the rest of this pass would meet too.
    var failure: CKError?
    var isZoneLost = false
  }

  /// Sends what waits, until nothing is left that can be sent now.
  func send(_ generation: Int) async throws {
    for _ in 0..<Self.mostRounds {
      let parcels = parcels()
      if parcels.isEmpty { break }
      // What is one account's must never reach another's cloud.
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

  /// What can be sent now: parents before children, and removals the other way round, first.
  private func parcels() -> [Parcel] {
    let waiting = state.withLock { state in
      state.tables.queue.entries.compactMap { entry -> Parcel? in
        guard let item = state.tables.items[entry.id], item.dispute == nil, item.refusal == nil,
          entry.change == .delete || (!state.isStorageFull && item.mine != nil)
        else { return nil }
        return Parcel(item: item, entry: entry)
      }
    }
    func ordered(_ parcels: [Parcel]) -> [Parcel] {
      TopologicalOrder(parcels, id: \.item.id, parent: \.item.parent).ordered
    }
    return ordered(waiting.filter(\.isDeletion)).reversed()
      + ordered(waiting.filter { !$0.isDeletion })
  }

  /// Sends parcels to one database; answers how many are done with.
  private func send(
    _ parcels: [Parcel], _ scope: CKDatabase.Scope, _ generation: Int
  ) async throws -> Int {
    let database = container.database(with: scope)
    var settled = 0
    var rest = parcels[...]
    while !rest.isEmpty {
      let size = state.withLock { $0.batchSize }
      let batch = Array(rest.prefix(size))
      let report: BatchReport
      do {
        report = try await send(batch, database, generation)
      } catch let error as CKError where error.code == .limitExceeded && batch.count > 1 {
        state.withLock { $0.batchSize = max(1, batch.count / 2) }
        continue
      } catch let error as CKError where error.code == .limitExceeded {
        try refuse(batch[0], error, generation)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(batch.count)
      settled += report.settled
      state.withLock { state in
        state.metrics.uploadCount += report.uploads
        state.metrics.conflictCount += report.conflicts
        state.metrics.errorCount += report.refusals
      }
      if report.isZoneLost { throw PassError.zoneLost }
      if let failure = report.failure { throw failure }
      if state.withLock({ $0.isStorageFull }) { rest = rest.filter(\.isDeletion)[...] }
    }
    return settled
  }

  private func send(
    _ batch: [Parcel], _ database: CKDatabase, _ generation: Int
  ) async throws -> BatchReport {
    let (strategy, owner) = state.withLock { state in
      (state.tables.settings.strategy, state.tables.settings.owner ?? "")
    }
    let policy = Self.savePolicy(strategy)
    try offer(batch, signedBy: owner, generation)
    let results = try await attempt {
      // Made anew for each attempt: a record that failed may carry what the server said to it.
      let records = batch.filter { !$0.isDeletion }.map { record($0.item, signedBy: owner) }
      return try await database.modifyRecords(
        saving: records, deleting: batch.filter(\.isDeletion).map(\.item.recordID),
        savePolicy: policy, atomically: false)
    }
    return try settle(batch, results.saveResults, results.deleteResults, policy, generation)
  }

  /// Writes down what is about to be sent, so that it is known again should no answer come.
  private func offer(_ batch: [Parcel], signedBy owner: String, _ generation: Int) throws {
    try transaction(in: generation) { tables in
      for parcel in batch where !parcel.isDeletion {
        guard var item = tables.items[parcel.item.id] else { continue }
        if item.offer(signed(parcel.item.fields, by: owner)) { tables.replace(item) }
      }
    }
  }

  private func signed(_ fields: Fields, by owner: String) -> Fields {
    guard fields["ownerID"] == .text("") else { return fields }
    return fields.merging(["ownerID": .text(owner)]) { _, new in new }
  }

  /// How records are saved under a strategy.
  ///
  /// Only the fields that were changed travel, whatever the policy. `.changedKeys` overwrites them
  /// without looking, so it is for the strategy that wants just that; all others must see the other
  /// version first, or the last to arrive would win and not the last to write.
  static func savePolicy(
    _ strategy: ConflictStrategy
  ) -> CKModifyRecordsOperation.RecordSavePolicy {
    strategy.alwaysKeepsMine ? .changedKeys : .ifServerRecordUnchanged
  }

  /// The record to save, with only the fields touched that differ from the cloud's.
  func record(_ item: StoredItem, signedBy owner: String) -> CKRecord {
    let known = item.cloud.flatMap { CKRecord.bare($0.system) }
    let record =
      known ?? CKRecord(recordType: item.kind.recordType, recordID: item.recordID)
    let fields = signed(item.fields, by: owner)
    let before = known == nil ? [:] : item.cloud?.fields ?? [:]
    for key in Set(fields.keys).union(before.keys).sorted() where fields[key] != before[key] {
      if fields[key] == .media(MediaFolder.unavailable) { continue }
      record.set(fields[key], forKey: key, media: media)
    }
    if let field = item.kind.parentField, let parent = fields.link(field),
      fields[field] != before[field]
    {
      // A share covers what hangs under its layer by this, not by the field.
      record.setParent(AnnotationZone.recordID(parent, owner: item.owner))
    }
    return record
  }

  // MARK: Answers

  private func settle(
    _ batch: [Parcel], _ saves: [CKRecord.ID: Result<CKRecord, any Error>],
    _ deletions: [CKRecord.ID: Result<Void, any Error>],
    _ policy: CKModifyRecordsOperation.RecordSavePolicy, _ generation: Int
  ) throws -> BatchReport {
    // Files are moved before the lock is taken and anything is decided.
    var theirs: [CKRecord.ID: Arrival] = [:]
    for (recordID, result) in saves {
      guard case .failure(let error as CKError) = result, let server = error.serverRecord else {
        continue
      }
      theirs[recordID] = try arrival(server)
    }
    let date = moment()
    var report = BatchReport()
    try transaction(in: generation) { tables in
      let rules = MergeRules(strategy: tables.settings.strategy, now: date)
      for parcel in batch {
        let recordID = parcel.item.recordID
        if parcel.isDeletion {
          switch deletions[recordID] {
          case .success?: confirmRemoval(parcel, &tables, &report)
          case .failure(let error)?: removalFailed(parcel, error, &tables, &report)
          case nil: break
          }
          continue
        }
        switch saves[recordID] {
        case .success(let record)?: confirm(parcel, record, policy, &tables, &report)
        case .failure(let error)?:
          saveFailed(parcel, error, theirs[recordID], rules, &tables, &report)
        case nil: break
        }
      }
    }
    if report.failure?.code == .quotaExceeded {
      report.failure = nil
      state.withLock { $0.isStorageFull = true }
    }
    return report
  }

  /// The cloud has what was sent; an edit made meanwhile stays and waits.
  private func confirm(
    _ parcel: Parcel, _ record: CKRecord,
    _ policy: CKModifyRecordsOperation.RecordSavePolicy, _ tables: inout Tables,
    _ report: inout BatchReport
  ) {
    report.settled += 1
    report.uploads += 1
    guard var item = tables.items[parcel.item.id] else { return }
    var fields = record.plainFields
    fields["mediaAsset"] = parcel.item.fields["mediaAsset"]
    item.cloud = CloudCopy(
      // What others changed under an overwriting save is not known here: the next fetch looks.
      fields: fields, tag: policy == .changedKeys ? nil : record.recordChangeTag,
      system: record.systemFields, share: record.share?.recordID.recordName)
    item.offered = nil
    item.refusal = nil
    if tables.settle(parcel.item.id, number: parcel.entry.number) {
      item.mine = nil
    } else if var mine = item.mine, mine["ownerID"] == .text("") {
      mine["ownerID"] = fields["ownerID"]
      item.mine = mine
    }
    tables.replace(item)
  }

  private func confirmRemoval(
    _ parcel: Parcel, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.settled += 1
    report.uploads += 1
    tables.remove(parcel.item.id)
  }

  private func removalFailed(
    _ parcel: Parcel, _ error: any Error, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    let error = (error as? CKError) ?? CKError(.internalError)
    switch FailedChange.ofDeletion(error.code) {
    case .isDone: confirmRemoval(parcel, &tables, &report)
    case .isRetried: report.failure = report.failure ?? error
    case .sendAgain, .sendAgainAFewTimes: break
    case .keepForLater: report.failure = error
    case .bringTogether, .createZone, .zoneWasPurged, .recordIsGone, .tell:
      if error.code == .referenceViolation {
        backToTrash(parcel, &tables, &report)
      } else {
        refuse(parcel, error, &tables, &report)
      }
    }
  }

  /// Somebody hung something under an item that this device removes for good.
  ///
  /// What is about to go from here as well goes first. Anything else has a right to its place: the
  /// item stays in the trash, where emptying finds it again.
  private func backToTrash(
    _ parcel: Parcel, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    guard var item = tables.items[parcel.item.id] else { return }
    let children = tables.childIDs(of: item.id)
    if children.contains(where: { tables.items[$0]?.isPurged == true }) { return }
    report.settled += 1
    item.isPurged = false
    tables.put(item, waits: item.mine == nil ? nil : .save)
  }

  private func saveFailed(
    _ parcel: Parcel, _ error: any Error, _ theirs: Arrival?, _ rules: MergeRules,
    _ tables: inout Tables, _ report: inout BatchReport
  ) {
    let error = (error as? CKError) ?? CKError(.internalError)
    let (id, owner) = (parcel.item.id, parcel.item.owner)
    switch FailedChange.ofSave(error.code) {
    case .isRetried: report.failure = report.failure ?? error
    case .bringTogether:
      guard let theirs else { break }
      report.settled += 1
      let result = tables.take(theirs.copy, id, theirs.kind, owner: owner, rules)
      if result.isConflict { report.conflicts += 1 }
    case .createZone, .zoneWasPurged:
      if owner == nil {
        report.isZoneLost = true
      } else {
        // The owner ended the sharing; the next fetch takes the rest away too.
        tables.remove(id)
      }
    case .recordIsGone:
      report.settled += 1
      if tables.takeRemoval(id, owner: owner, rules).isConflict { report.conflicts += 1 }
    case .sendAgain, .sendAgainAFewTimes: tooLargeOrAgain(parcel, error, &tables, &report)
    case .keepForLater: report.failure = error
    case .isDone, .tell:
      if error.code == .referenceViolation,
        parcel.item.parent.map({ tables.queue[$0] != nil })
          == true
      {
        // Its parent did not get there either: both go again.
        break
      }
      refuse(parcel, error, &tables, &report)
    }
  }

  /// What went down with others goes again; what is too much by itself is told.
  private func tooLargeOrAgain(
    _ parcel: Parcel, _ error: CKError, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    if error.code == .limitExceeded { refuse(parcel, error, &tables, &report) }
  }

  private func refuse(
    _ parcel: Parcel, _ error: CKError, _ tables: inout Tables, _ report: inout BatchReport
  ) {
    report.refusals += 1
    guard var item = tables.items[parcel.item.id] else { return }
    item.refusal = Refusal(code: error.code.rawValue, message: Self.words(error))
    tables.replace(item)
  }

  private func refuse(_ parcel: Parcel, _ error: CKError, _ generation: Int) throws {
    try transaction(in: generation) { tables in
      var report = BatchReport()
      refuse(parcel, error, &tables, &report)
    }
    state.withLock { $0.metrics.errorCount += 1 }
  }

  static func words(_ error: CKError) -> String {
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
