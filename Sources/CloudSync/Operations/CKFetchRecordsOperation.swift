import Foundation

#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

/// Fetches records by ID; see CS-55 to CS-57.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The IDs of the records; a record is fetched once, even if its ID occurs twice.
  public final var recordIDs: [CKRecord.ID]?
  /// The fields to fetch; `nil` fetches all, an empty list none.
  public final var desiredKeys: [CKRecord.FieldKey]?

  /// Called with the progress of a record, from 0 to 1; at least once with 1 for a fetched record.
  public final var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
  /// Called for each record.
  public final var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called once at the end; a success when only single records failed.
  public final var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record, if there is no `perRecordResultBlock`.
  public final var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
  /// Called once at the end with the fetched records; `partialFailure` if single records failed.
  public final var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

  private final var fetchesCurrentUser = false

  /// Creates an operation; set its properties before it starts.
  public required override init() { super.init() }

  /// Creates an operation that fetches the records `recordIDs`.
  public convenience init(recordIDs: [CKRecord.ID]) {
    self.init()
    self.recordIDs = recordIDs
  }

  /// Creates an operation that fetches the record of the signed-in user.
  open class func fetchCurrentUserRecordOperation() -> Self {
    let operation = self.init()
    operation.fetchesCurrentUser = true
    return operation
  }

  override func run() async {
    await perform {
      let ids = fetchesCurrentUser ? [try await requests.connection.currentUser()] : recordIDs
      return try await requests.records(for: ids ?? [], desiredKeys: desiredKeys)
    } reporting: { results in
      try await report(results) { id, result in
        if case .success = result { self.perRecordProgressBlock?(id, 1) }
        if let block = self.perRecordResultBlock { return block(id, result.widened) }
        self.perRecordCompletionBlock?(result.success, id, result.failure)
      }
    } concluding: { results, result, error in
      self.fetchRecordsResultBlock?(result)
      self.fetchRecordsCompletionBlock?(results?.valuesByID, error)
    }
  }
}
