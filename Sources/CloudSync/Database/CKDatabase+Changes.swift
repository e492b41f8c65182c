import CloudProtocol
import Records

extension CKDatabase {
  /// Fetches one page of the zones that changed.
  ///
  /// - Parameters:
  ///   - changeToken: Where the last page ended; `nil` asks for every zone there is.
  ///   - resultsLimit: The most zones wanted; the server may give fewer.
  /// - Throws: `changeTokenExpired` when the token is too old: start again with `nil`.
  public func databaseChanges(
    since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
  ) async throws -> (
    modifications: [CKDatabase.DatabaseChange.Modification],
    deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    let reply = try await send(
      .fetchDatabaseChanges(
        FetchDatabaseChanges(since: changeToken?.value, limit: resultsLimit)))
    guard case .databaseChanges(let page) = reply else { throw CKError.misplaced(reply) }
    return (
      page.modified.map { DatabaseChange.Modification(zoneID: CKRecordZoneID($0)) },
      page.deleted.map(DatabaseChange.Deletion.init), CKServerChangeToken(page.token),
      page.moreComing
    )
  }

  /// Fetches one page of the records of a zone that changed, each once, as it is now.
  ///
  /// - Parameters:
  ///   - zoneID: The zone.
  ///   - changeToken: Where the last page ended; `nil` asks for every record there is.
  ///   - desiredKeys: The fields wanted; `nil` is all, an empty list is none.
  ///   - resultsLimit: The most changes wanted; the server may give fewer.
  /// - Throws: `changeTokenExpired` when the token is too old: start again with `nil`.
  public func recordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
  ) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    let reply = try await send(
      .fetchZoneChanges(
        FetchZoneChanges(
          zone: zoneID.value, since: changeToken?.value, limit: resultsLimit,
          fields: FieldSelection(desiredKeys))))
    guard case .zoneChanges(let page) = reply else { throw CKError.misplaced(reply) }
    var modifications: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>] =
      [:]
    for record in page.modified {
      modifications[CKRecordID(record.id)] = .success(.init(record: CKRecord(record)))
    }
    return (
      modifications, page.deleted.map(RecordZoneChange.Deletion.init),
      CKServerChangeToken(page.token), page.moreComing
    )
  }
}
