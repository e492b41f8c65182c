#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKDatabase {
  /// Fetches one record.
  /// - Throws: the record's own error, such as `unknownItem`.
  public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
    try await requests.records(for: [recordID], desiredKeys: nil).only(recordID)
  }

  /// Saves one record if it is unchanged on the server; the object then holds the server's
  /// version.
  /// - Throws: the record's own error, such as `serverRecordChanged`.
  @discardableResult
  public func save(_ record: CKRecord) async throws -> CKRecord {
    try await connection.uncancelled { [requests] in
      let results = try await requests.modifyRecords(
        saving: [record], deleting: [], savePolicy: .ifServerRecordUnchanged, atomically: true)
      return try results.saved.only(record.recordID)
    }
  }

  /// Deletes one record, regardless of its version.
  /// - Throws: the record's own error, such as `zoneNotFound`.
  @discardableResult
  public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
    try await connection.uncancelled { [requests] in
      let results = try await requests.modifyRecords(
        saving: [], deleting: [recordID], savePolicy: .ifServerRecordUnchanged, atomically: true)
      try results.deleted.only(recordID)
    }
    return recordID
  }

  /// Fetches records.
  ///
  /// - Parameters:
  ///   - ids: The IDs; a record is fetched once, even if its ID occurs twice.
  ///   - desiredKeys: The fields to fetch; `nil` fetches all, an empty list none.
  /// - Returns: a record or an error for each ID.
  public func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    try await requests.records(for: ids, desiredKeys: desiredKeys).byID
  }

  /// Saves and deletes records in one request.
  ///
  /// A saved record then holds the server's version, except for fields that were
  /// changed during the request.
  /// - Parameters:
  ///   - recordsToSave: The records to save.
  ///   - recordIDsToDelete: The records to delete, regardless of their versions.
  ///   - savePolicy: The treatment of records that were changed on the server.
  ///   - atomically: Whether all changes of one custom zone succeed or fail together.
  /// - Returns: a result for each record; the failure of a single record does not throw.
  /// - Throws: `limitExceeded` for more than 400 items, `invalidArguments` if an ID occurs
  ///   twice, and what fails the request as a whole.
  @discardableResult
  public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) {
    try await connection.uncancelled { [requests] in
      try await requests.modifyRecords(
        saving: recordsToSave, deleting: recordIDsToDelete, savePolicy: savePolicy,
        atomically: atomically)
    }.byID
  }
}
