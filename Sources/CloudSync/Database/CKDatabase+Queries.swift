extension CKDatabase {
  /// Fetches the first page of the records that match a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - zoneID: The zone to search; `nil` searches all zones, which the shared database rejects.
  ///   - desiredKeys: The fields to fetch; `nil` fetches all, an empty list none.
  ///   - resultsLimit: The maximum number of records; the server may return fewer.
  /// - Returns: the records in the order of the query, and a cursor if there are more.
  /// - Throws: `invalidArguments` for an unsupported predicate, with the part that is wrong.
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  ) {
    try await requests.query(
      query, in: zoneID, desiredKeys: desiredKeys, limit: resultsLimit
    ).matches
  }

  /// Fetches the page after a cursor.
  ///
  /// - Parameters:
  ///   - queryCursor: The cursor of the last page.
  ///   - desiredKeys: The fields to fetch; `nil` fetches all, an empty list none.
  ///   - resultsLimit: The maximum number of records; the server may return fewer.
  public func records(
    continuingMatchFrom queryCursor: CKQueryOperation.Cursor,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults
  ) async throws -> (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
    queryCursor: CKQueryOperation.Cursor?
  ) {
    try await requests.query(
      after: queryCursor, desiredKeys: desiredKeys, limit: resultsLimit
    ).matches
  }

  /// Fetches the first page of the records that match a query, as plain records.
  ///
  /// A call without a type of the result uses the form with results and a cursor.
  @_disfavoredOverload
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    try await requests.query(
      query, in: zoneID, desiredKeys: nil, limit: CKQueryOperation.maximumResults
    ).records.values
  }

  /// Fetches the first page of the records that match a query, as plain records.
  @available(*, deprecated, message: "Use records(matching:inZoneWith:desiredKeys:resultsLimit:).")
  public func perform(
    _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    try await records(matching: query, inZoneWith: zoneID)
  }

  /// Fetches the first page of the records that match a query, as plain records.
  @preconcurrency public func perform(
    _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
    completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.records(matching: query, inZoneWith: zoneID) as [CKRecord]
    }
  }

  /// Fetches the first page of the records that match a query.
  @preconcurrency public func fetch(
    withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
            queryCursor: CKQueryOperation.Cursor?
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.records(
        matching: query, inZoneWith: zoneID, desiredKeys: desiredKeys,
        resultsLimit: resultsLimit)
    }
  }

  /// Fetches the page after a cursor.
  @preconcurrency public func fetch(
    withCursor queryCursor: CKQueryOperation.Cursor,
    desiredKeys: [CKRecord.FieldKey]? = nil,
    resultsLimit: Int = CKQueryOperation.maximumResults,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)],
            queryCursor: CKQueryOperation.Cursor?
          ), any Error
        >
      ) -> Void
  ) {
    connection.complete(completionHandler, urgency: urgency) {
      try await self.records(
        continuingMatchFrom: queryCursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
    }
  }
}
