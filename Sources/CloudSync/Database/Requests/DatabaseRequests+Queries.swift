import CloudProtocol
import Records

extension DatabaseRequests {
  /// One page of a query's answer, in the form apps read.
  struct QueryAnswer: Sendable {
    /// The records that match, in the order asked.
    var records: ItemResults<CKRecord.ID, CKRecord>
    /// Where to go on; `nil` when this is all.
    var cursor: CKQueryCursor?
  }

  /// Searches for the first page of a query.
  func query(
    _ query: CKQuery, in zoneID: CKRecordZone.ID?, desiredKeys: [CKRecord.FieldKey]?, limit: Int
  ) async throws(CKError) -> QueryAnswer {
    try await answer(
      QueryRecords(query: try query.converted(), zone: zoneID?.value), desiredKeys, limit)
  }

  /// Searches for the page after a cursor.
  func query(
    after cursor: CKQueryCursor, desiredKeys: [CKRecord.FieldKey]?, limit: Int
  ) async throws(CKError) -> QueryAnswer {
    try await answer(
      QueryRecords(query: cursor.query, zone: cursor.zone, cursor: cursor.position),
      desiredKeys, limit)
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
        items: page.records.map { (CKRecordID($0.id), .success(CKRecord.face(of: $0))) }),
      cursor: page.cursor.map { CKQueryCursor(query: query, zone: zone, position: $0) })
  }
}

extension DatabaseRequests.QueryAnswer {
  /// The tuple the convenience calls give.
  var matches:
    (
      matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryCursor?
    )
  {
    (records.items.map { ($0.id, $0.result.widened) }, cursor)
  }
}
