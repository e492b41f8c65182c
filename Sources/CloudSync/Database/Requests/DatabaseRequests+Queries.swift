import CloudProtocol
import Records

extension DatabaseRequests {
  /// One page of the result of a query.
  struct QueryAnswer: RequestResults {
    /// The matching records, in the requested order.
    var records: ItemResults<CKRecord.ID, CKRecord>
    /// The cursor of the next page; `nil` at the end.
    var cursor: CKQueryCursor?

    /// The errors of single records.
    var failures: [AnyHashable: CKError] { records.failures }

    /// The result of the async methods.
    var matches:
      (
        matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryCursor?
      )
    {
      (records.items.map { ($0.id, $0.result.widened) }, cursor)
    }
  }

  /// Fetches the first page of a query.
  func query(
    _ query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?, limit: Int
  ) async throws(CKError) -> QueryAnswer {
    try await answer(
      QueryRecords(query: try query.converted(), zone: zoneID?.value), desiredKeys, limit)
  }

  /// Fetches the page after a cursor.
  func query(
    after cursor: CKQueryCursor, desiredKeys: [CKRecord.FieldKey]?, limit: Int
  ) async throws(CKError) -> QueryAnswer {
    try await answer(cursor.value, desiredKeys, limit)
  }

  private func answer(
    _ request: QueryRecords, _ desiredKeys: [CKRecord.FieldKey]?, _ limit: Int
  ) async throws(CKError) -> QueryAnswer {
    var request = request
    request.limit = limit > 0 ? limit : nil
    request.fields = FieldSelection(desiredKeys)
    let reply = try await send(.queryRecords(request))
    guard case .queried(let page) = reply else { throw .misplaced(reply) }
    let (query, zone) = (request.query, request.zone)
    return QueryAnswer(
      records: ItemResults(
        items: page.records.map { record in
          let failure = page.failures[record.id].map { CKError($0) }
          return (CKRecordID(record.id), failure.map(Result.failure) ?? .success(.face(of: record)))
        }),
      cursor: page.cursor.map {
        CKQueryCursor(QueryRecords(query: query, zone: zone, cursor: $0))
      })
  }
}
