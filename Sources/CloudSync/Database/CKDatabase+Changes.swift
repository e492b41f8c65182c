#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

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
    let page = try await requests.databaseChanges(since: changeToken, limit: resultsLimit)
    return (page.modifications, page.deletions, page.token, page.moreComing)
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
    let page = try await requests.zoneChanges(
      in: zoneID, since: changeToken, desiredKeys: desiredKeys, limit: resultsLimit)
    let modifications = page.modifications.byID.mapValues { result in
      result.map { CKDatabase.RecordZoneChange.Modification(record: $0) }
    }
    return (modifications, page.deletions, page.token, page.moreComing)
  }
}
