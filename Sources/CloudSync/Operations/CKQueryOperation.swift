import Foundation

/// Searches for records, one page for each operation.
///
/// A cursor at the end is the only sign that there is more: go on with an operation of that
/// cursor. A page may hold fewer records than the limit. See CS-59 and CS-85.
///
/// Unchecked for the reason `CKOperation` gives: set before the start, read on a serial queue.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
  /// Where a page of a query's answer ended.
  public typealias Cursor = CKQueryCursor

  /// The limit that leaves the size of a page to the server.
  public static let maximumResults = 0

  /// What is looked for, for the first page.
  public final var query: CKQuery?
  /// Where the last page ended, for those after the first; beats the query.
  public final var cursor: CKQueryOperation.Cursor?
  /// The zone looked in; `nil` looks in all of the database, which a shared one refuses.
  public final var zoneID: CKRecordZone.ID?
  /// The most records wanted; the server may give fewer.
  public final var resultsLimit = CKQueryOperation.maximumResults
  /// The fields wanted; `nil` is all, an empty list is none.
  public final var desiredKeys: [CKRecord.FieldKey]?

  /// Called for each record, in the order of the query.
  public final var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called once at the end, with a cursor when there is more.
  public final var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?
  /// Called for each record where there is no `recordMatchedBlock`.
  public final var recordFetchedBlock: ((CKRecord) -> Void)?
  /// Called once at the end, with a cursor when there is more.
  public final var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

  /// An operation that is refused as long as it has neither query nor cursor.
  public override init() { super.init() }

  /// Searches for the first page of `query`.
  public convenience init(query: CKQuery) {
    self.init()
    self.query = query
  }

  /// Goes on at `cursor`.
  public convenience init(cursor: CKQueryOperation.Cursor) {
    self.init()
    self.cursor = cursor
  }

  override func run() async {
    var next: CKQueryCursor?
    var failure: CKError?
    do throws(CKError) {
      let page = try await page(from: requests())
      try await report(page.records) { id, result in
        if let block = self.recordMatchedBlock {
          block(id, result.widened)
        } else if let record = result.success {
          self.recordFetchedBlock?(record)
        }
      }
      next = page.cursor
    } catch {
      failure = error
    }
    let cursor = next
    await conclude(failure) { result, error in
      self.queryResultBlock?(result.map { cursor })
      self.queryCompletionBlock?(error == nil ? cursor : nil, error)
    }
  }

  private func page(
    from requests: DatabaseRequests
  ) async throws(CKError) -> DatabaseRequests.QueryAnswer {
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
