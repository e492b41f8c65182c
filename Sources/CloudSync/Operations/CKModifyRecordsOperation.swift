public import Foundation

/// Saves and deletes records in one request.
///
/// Saved records then hold the server's version. See CS-55 to CS-58.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The records to create or update, according to `savePolicy`.
  public final var recordsToSave: [CKRecord]?
  /// The records to delete, regardless of their versions.
  public final var recordIDsToDelete: [CKRecord.ID]?
  /// The policy for records that were changed on the server.
  public final var savePolicy: CKModifyRecordsOperation.RecordSavePolicy =
    .ifServerRecordUnchanged
  /// Whether all changes of one custom zone succeed or fail together.
  public final var isAtomic = true
  /// Data of the app that identifies this request; it is not sent.
  public final var clientChangeTokenData: Data?

  /// Called with the progress of a record, from 0 to 1; at least once with 1 for a saved record.
  public final var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
  /// Called for each record to save.
  public final var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called for each record to delete.
  public final var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
  /// Called once at the end; a success when only single records failed.
  public final var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record to save, if there is no `perRecordSaveBlock`.
  public final var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)?
  /// Called once at the end with the changed records; `partialFailure` if single records failed.
  public final var modifyRecordsCompletionBlock:
    (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

  /// Creates an operation; set its properties before it starts.
  public override init() { super.init() }

  /// Creates an operation that saves and deletes records.
  public convenience init(
    recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil
  ) {
    self.init()
    self.recordsToSave = recordsToSave
    self.recordIDsToDelete = recordIDsToDelete
  }

  override func run() async {
    let records = recordsToSave ?? []
    await perform {
      try await requests.modifyRecords(
        saving: records, deleting: recordIDsToDelete ?? [], savePolicy: savePolicy,
        atomically: isAtomic)
    } reporting: { results in
      let objects = Dictionary(records.map { ($0.recordID, $0) }) { first, _ in first }
      try await report(results.saved) { id, result in
        if let record = result.success { self.perRecordProgressBlock?(record, 1) }
        if let block = self.perRecordSaveBlock { return block(id, result.widened) }
        if let record = objects[id] { self.perRecordCompletionBlock?(record, result.failure) }
      }
      try await report(results.deleted) { self.perRecordDeleteBlock?($0, $1.widened) }
    } concluding: { results, result, error in
      self.modifyRecordsResultBlock?(result)
      self.modifyRecordsCompletionBlock?(
        results?.saved.values, results?.deleted.successfulIDs, error)
    }
  }
}
