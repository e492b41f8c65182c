import CloudProtocol
import Records

extension DatabaseRequests {
  /// One page of changes.
  struct ChangesPage<Modifications: Sendable, Deletion: Sendable>: Sendable {
    /// The items that are new or changed, in the server's order.
    var modifications: Modifications
    /// The items that were deleted.
    var deletions: [Deletion]
    /// The token of the end of the page.
    var token: CKServerChangeToken
    /// Whether another page follows.
    var moreComing: Bool
  }

  /// One page of the changes of a database.
  typealias DatabasePage = ChangesPage<
    [CKDatabase.DatabaseChange.Modification], CKDatabase.DatabaseChange.Deletion
  >

  /// One page of the changes of a zone.
  typealias ZonePage = ChangesPage<
    ItemResults<CKRecord.ID, CKRecord>, CKDatabase.RecordZoneChange.Deletion
  >

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
