import CloudProtocol
import Records

extension DatabaseRequests {
  /// One page of the database feed, in the form apps read.
  struct DatabasePage: Sendable {
    /// Zones that are new or hold changes.
    var modifications: [CKDatabase.DatabaseChange.Modification]
    /// Zones that are gone.
    var deletions: [CKDatabase.DatabaseChange.Deletion]
    /// Where the page ends.
    var token: CKServerChangeToken
    /// Whether another page follows.
    var moreComing: Bool
  }

  /// One page of a zone's feed, in the form apps read.
  struct ZonePage: Sendable {
    /// Records that are new or changed, in the server's order.
    var modifications: ItemResults<CKRecord.ID, CKRecord>
    /// Records that are gone.
    var deletions: [CKDatabase.RecordZoneChange.Deletion]
    /// Where the page ends.
    var token: CKServerChangeToken
    /// Whether another page follows.
    var moreComing: Bool
  }

  /// Fetches one page of the zones that changed.
  func databaseChanges(
    since token: CKServerChangeToken?, limit: Int?
  ) async throws(CKError) -> DatabasePage {
    let reply = try await send(
      .fetchDatabaseChanges(FetchDatabaseChanges(since: token?.value, limit: limit)))
    guard case .databaseChanges(let page) = reply else { throw .misplaced(reply) }
    return DatabasePage(
      modifications: page.modified.map { .init(zoneID: CKRecordZoneID($0)) },
      deletions: page.deleted.map(CKDatabase.DatabaseChange.Deletion.init),
      token: CKServerChangeToken(page.token), moreComing: page.moreComing)
  }

  /// Fetches one page of the records of a zone that changed.
  func zoneChanges(
    in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]?, limit: Int?
  ) async throws(CKError) -> ZonePage {
    let reply = try await send(
      .fetchZoneChanges(
        FetchZoneChanges(
          zone: zoneID.value, since: token?.value, limit: limit,
          fields: FieldSelection(desiredKeys))))
    guard case .zoneChanges(let page) = reply else { throw .misplaced(reply) }
    return ZonePage(
      modifications: ItemResults(
        items: page.modified.map { (CKRecordID($0.id), .success(CKRecord.face(of: $0))) }),
      deletions: page.deleted.map(CKDatabase.RecordZoneChange.Deletion.init),
      token: CKServerChangeToken(page.token), moreComing: page.moreComing)
  }
}
