import Foundation

/// Fetches one page of the records that match a query.
///
/// Only a cursor at the end shows that there are more records: continue with an operation of that
/// cursor. A page may contain fewer records than the limit. See CS-59 and CS-85.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The end of a page of query results.
  public typealias Cursor = CKQueryCursor

  /// The limit that leaves the size of a page to the server.
  public static let maximumResults = 0

  /// The query, for the first page.
  public final var query: CKQuery?
  /// The cursor of the last page, for later pages; it takes precedence over the query.
  public final var cursor: CKQueryOperation.Cursor?
  /// The zone to search; `nil` searches all zones, which a shared database rejects.
  public final var zoneID: CKRecordZone.ID?
  /// The maximum number of records; the server may return fewer.
  public final var resultsLimit = CKQueryOperation.maximumResults
  /// The fields to fetch; `nil` fetches all, an empty list none.
  public final var desiredKeys: [CKRecord.FieldKey]?

  /// Called for each record, in the order of the query.
  public final var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called once at the end, with a cursor when there is more.
  public final var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?
  /// Called for each record, if there is no `recordMatchedBlock`.
  public final var recordFetchedBlock: ((CKRecord) -> Void)?
  /// Called once at the end, with a cursor when there is more.
  public final var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

  /// Creates an operation; set the query or the cursor.
  public override init() { super.init() }

  /// Creates an operation for the first page of `query`.
  public convenience init(query: CKQuery) {
    self.init()
    self.query = query
  }

  /// Creates an operation that continues at `cursor`.
  public convenience init(cursor: CKQueryOperation.Cursor) {
    self.init()
    self.cursor = cursor
  }

  override func run() async {
    await perform {
      try await page()
    } reporting: { page in
      try await report(page.records) { id, result in
        if let block = self.recordMatchedBlock { return block(id, result.widened) }
        if let record = result.success { self.recordFetchedBlock?(record) }
      }
    } concluding: { page, result, error in
      self.queryResultBlock?(result.map { page?.cursor })
      self.queryCompletionBlock?(page?.cursor, error)
    }
  }

  private func page() async throws(CKError) -> DatabaseRequests.QueryAnswer {
    if let cursor {
      return try await requests.query(after: cursor, desiredKeys: desiredKeys, limit: resultsLimit)
    }
    guard let query else {
      throw CKError(
        .invalidArguments, "The query operation has neither a query nor a cursor; set one.")
    }
    return try await requests.query(
      query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit)
  }
}
