public import Records

/// Fetches the records that match a query, page by page.
public struct QueryRecords: Hashable, Sendable, Codable {
  /// The query, the same for every page.
  public var query: Query
  /// The zone to search; `nil` searches all zones, which a shared database rejects.
  public var zone: ZoneID?
  /// The cursor of the last page; `nil` fetches the first page.
  public var cursor: QueryCursor?
  /// The maximum number of records in a page; the server may return fewer.
  public var limit: Int?
  /// The fields to return.
  public var fields: FieldSelection

  /// Creates a request.
  public init(
    query: Query, zone: ZoneID? = nil, cursor: QueryCursor? = nil, limit: Int? = nil,
    fields: FieldSelection = .all
  ) {
    self.query = query
    self.zone = zone
    self.cursor = cursor
    self.limit = limit
    self.fields = fields
  }
}

/// One page of the result of a query, in the requested order.
public struct QueryPage: Hashable, Sendable, Codable {
  /// The matching records.
  public var records: [Record]
  /// The cursor of the next page; `nil` after the last page.
  public var cursor: QueryCursor?
  /// The errors of those records whose files could not be fetched; not a part of an encoded page.
  package var failures: [RecordID: CloudError] = [:]

  private enum CodingKeys: CodingKey { case records, cursor }

  /// Creates a page.
  public init(records: [Record], cursor: QueryCursor?) {
    self.records = records
    self.cursor = cursor
  }
}
