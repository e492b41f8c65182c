#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKDatabase {
  /// Fetches one page of the zones that changed.
  ///
  /// - Parameters:
  ///   - changeToken: The token of the last page; `nil` fetches all zones.
  ///   - resultsLimit: The maximum number of zones; the server may return fewer.
  /// - Throws: `changeTokenExpired` if the token is too old; fetch again with `nil`.
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

  /// Fetches one page of the records of a zone that changed, each once, in its current version.
  ///
  /// - Parameters:
  ///   - zoneID: The zone.
  ///   - changeToken: The token of the last page; `nil` fetches all records.
  ///   - desiredKeys: The fields to fetch; `nil` fetches all, an empty list none.
  ///   - resultsLimit: The maximum number of changes; the server may return fewer.
  /// - Throws: `changeTokenExpired` if the token is too old; fetch again with `nil`.
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
