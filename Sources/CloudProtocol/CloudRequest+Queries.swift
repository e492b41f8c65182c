public import Records

/// Asks for the records that match a query, page by page.
public struct QueryRecords: Hashable, Sendable, Codable {
  /// What is looked for; the same on every page.
  public var query: Query
  /// The one zone looked in; `nil` looks in all of the database, which a shared one refuses.
  public var zone: ZoneID?
  /// Where the last page ended; `nil` asks for the first.
  public var cursor: QueryCursor?
  /// The most records wanted in one page; the server may give fewer.
  public var limit: Int?
  /// Which fields are wanted.
  public var fields: FieldSelection

  /// Asks for records that match `query`.
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

/// One page of a query's answer, in the order asked.
public struct QueryPage: Hashable, Sendable, Codable {
  /// The records that match.
  public var records: [Record]
  /// Where to go on; `nil` when this is all.
  public var cursor: QueryCursor?

  /// Puts a page together.
  public init(records: [Record], cursor: QueryCursor?) {
    self.records = records
    self.cursor = cursor
  }
}
