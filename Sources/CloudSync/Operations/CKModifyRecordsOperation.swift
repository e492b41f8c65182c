public import Foundation

/// Saves and deletes records in one request.
///
/// Records that were saved hold the server's version afterwards. See CS-55 to CS-58.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The records to save.
  public final var recordsToSave: [CKRecord]?
  /// The records to delete, whatever their versions.
  public final var recordIDsToDelete: [CKRecord.ID]?
  /// The treatment of records that were changed on the server.
  public final var savePolicy: CKModifyRecordsOperation.RecordSavePolicy =
    .ifServerRecordUnchanged
  /// Whether all changes of one custom zone land together or not at all.
  public final var isAtomic = true
  /// Bytes of the app's own that name this request; kept here and not sent.
  public final var clientChangeTokenData: Data?

  /// Called with how far a record has come, from 0 to 1; at least once with 1 for each saved.
  public final var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
  /// Called for each record to save.
  public final var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called for each record to delete.
  public final var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single records failed.
  public final var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record to save where there is no `perRecordSaveBlock`.
  public final var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)?
  /// Called once at the end with what was done; `partialFailure` when single records failed.
  public final var modifyRecordsCompletionBlock:
    (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

  /// An operation with nothing to do as long as it is told nothing.
  public override init() { super.init() }

  /// Saves and deletes records.
  public convenience init(
    recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil
  ) {
    self.init()
    self.recordsToSave = recordsToSave
    self.recordIDsToDelete = recordIDsToDelete
  }

  override func run() async {
    var done: ModifyResults<CKRecord.ID, CKRecord>?
    var failure: CKError?
    do throws(CKError) {
      let records = recordsToSave ?? []
      let results = try await requests().modifyRecords(
        saving: records, deleting: recordIDsToDelete ?? [], savePolicy: savePolicy,
        atomically: isAtomic)
      done = results
      let objects = Dictionary(records.map { ($0.recordID, $0) }) { first, _ in first }
      try await report(results.saved) { id, result in
        if let record = result.success { self.perRecordProgressBlock?(record, 1) }
        if let block = self.perRecordSaveBlock {
          block(id, result.widened)
        } else if let record = objects[id] {
          self.perRecordCompletionBlock?(record, result.failure)
        }
      }
      try await report(results.deleted) { self.perRecordDeleteBlock?($0, $1.widened) }
    } catch {
      failure = error
    }
    let saved = done?.saved.values
    let deleted = done?.deleted.successfulIDs
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.modifyRecordsResultBlock?(result)
      self.modifyRecordsCompletionBlock?(saved, deleted, error)
    }
  }
}
