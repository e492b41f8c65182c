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

  /// Saves one record if it is unchanged on the server; afterwards the object holds the server's
  /// version.
  /// - Throws: the record's own error, such as `serverRecordChanged`.
  @discardableResult
  public func save(_ record: CKRecord) async throws -> CKRecord {
    let results = try await requests.modifyRecords(
      saving: [record], deleting: [], savePolicy: .ifServerRecordUnchanged, atomically: true)
    return try results.saved.only(record.recordID)
  }

  /// Deletes one record, whatever its version.
  /// - Throws: the record's own error, such as `zoneNotFound`.
  @discardableResult
  public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
    let results = try await requests.modifyRecords(
      saving: [], deleting: [recordID], savePolicy: .ifServerRecordUnchanged, atomically: true)
    try results.deleted.only(recordID)
    return recordID
  }

  /// Fetches records.
  ///
  /// - Parameters:
  ///   - ids: The records; one named twice is fetched once.
  ///   - desiredKeys: The fields wanted; `nil` is all, an empty list is none.
  /// - Returns: a record or an error for each ID.
  public func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    try await requests.records(for: ids, desiredKeys: desiredKeys).byID
  }

  /// Saves and deletes records in one request.
  ///
  /// A record that was saved holds the server's version afterwards, except for fields that were
  /// changed while the request was on its way.
  /// - Parameters:
  ///   - recordsToSave: The records to save.
  ///   - recordIDsToDelete: The records to delete, whatever their versions.
  ///   - savePolicy: The treatment of records that were changed on the server.
  ///   - atomically: Whether all changes of one custom zone land together or not at all.
  /// - Returns: how it went with each record; single failures do not throw.
  /// - Throws: `limitExceeded` for more than 400 items, `invalidArguments` when an ID is named
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
    try await requests.modifyRecords(
      saving: recordsToSave, deleting: recordIDsToDelete, savePolicy: savePolicy,
      atomically: atomically
    ).byID
  }
}
