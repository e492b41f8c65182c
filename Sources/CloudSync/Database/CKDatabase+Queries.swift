extension CKDatabase {
  /// Searches for the first page of records that match.
  ///
  /// - Parameters:
  ///   - query: What is looked for, and the order.
  ///   - zoneID: The zone looked in; `nil` looks in all, which the shared database refuses.
  ///   - desiredKeys: The fields wanted; `nil` is all, an empty list is none.
  ///   - resultsLimit: The most records wanted; the server may give fewer.
  /// - Returns: the records in the order of the query, and a cursor when there is more.
  /// - Throws: `invalidArguments` for what cannot be searched for, with the part that is wrong.
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

  /// Searches for the page after a cursor.
  ///
  /// - Parameters:
  ///   - queryCursor: Where the last page ended.
  ///   - desiredKeys: The fields wanted; `nil` is all, an empty list is none.
  ///   - resultsLimit: The most records wanted; the server may give fewer.
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

  /// Searches for the first page of records that match, as plain records.
  ///
  /// A call that leaves the result's type open means the form with results and a cursor.
  @_disfavoredOverload
  public func records(
    matching query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?
  ) async throws -> [CKRecord] {
    try await requests.query(
      query, in: zoneID, desiredKeys: nil, limit: CKQueryOperation.maximumResults
    ).records.values
  }

  /// Searches for the first page of records that match, as plain records.
  @preconcurrency public func perform(
    _ query: CKQuery, inZoneWith zoneID: CKRecordZone.ID?,
    completionHandler: @escaping @Sendable ([CKRecord]?, (any Error)?) -> Void
  ) {
    answer(completionHandler, urgency: urgency) {
      try await self.records(matching: query, inZoneWith: zoneID) as [CKRecord]
    }
  }

  /// Searches for the first page of records that match.
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
    answer(completionHandler, urgency: urgency) {
      try await self.records(
        matching: query, inZoneWith: zoneID, desiredKeys: desiredKeys,
        resultsLimit: resultsLimit)
    }
  }

  /// Searches for the page after a cursor.
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
    answer(completionHandler, urgency: urgency) {
      try await self.records(
        continuingMatchFrom: queryCursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
    }
  }
}
