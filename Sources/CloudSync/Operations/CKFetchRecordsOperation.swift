import Foundation

#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

/// Fetches records by ID.
///
/// See CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The records; one named twice is fetched once.
  public final var recordIDs: [CKRecord.ID]?
  /// The fields wanted; `nil` is all, an empty list is none.
  public final var desiredKeys: [CKRecord.FieldKey]?

  /// Called with how far a record has come, from 0 to 1; at least once with 1 for each fetched.
  public final var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
  /// Called for each record.
  public final var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called once at the end; a success when only single records failed.
  public final var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record where there is no `perRecordResultBlock`.
  public final var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
  /// Called once at the end with what was fetched; `partialFailure` when single records failed.
  public final var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

  private final var fetchesCurrentUser = false

  /// An operation with nothing to do as long as it is told nothing.
  public required override init() { super.init() }

  /// Fetches the records `recordIDs`.
  public convenience init(recordIDs: [CKRecord.ID]) {
    self.init()
    self.recordIDs = recordIDs
  }

  /// An operation that fetches the record of the signed-in user.
  open class func fetchCurrentUserRecordOperation() -> Self {
    let operation = self.init()
    operation.fetchesCurrentUser = true
    return operation
  }

  override func run() async {
    var done: ItemResults<CKRecord.ID, CKRecord>?
    var failure: CKError?
    do throws(CKError) {
      let requests = try requests()
      let ids = fetchesCurrentUser ? [try await requests.connection.currentUser()] : recordIDs
      let results = try await requests.records(for: ids ?? [], desiredKeys: desiredKeys)
      done = results
      try await report(results) { id, result in
        if case .success = result { self.perRecordProgressBlock?(id, 1) }
        if let block = self.perRecordResultBlock {
          block(id, result.widened)
        } else {
          self.perRecordCompletionBlock?(result.success, id, result.failure)
        }
      }
    } catch {
      failure = error
    }
    let records = done?.valuesByID
    await conclude(failure, items: done?.failures ?? [:]) { result, error in
      self.fetchRecordsResultBlock?(result)
      self.fetchRecordsCompletionBlock?(records, error)
    }
  }
}
