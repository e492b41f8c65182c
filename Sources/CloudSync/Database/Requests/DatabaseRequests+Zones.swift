import CloudProtocol
import Records

extension DatabaseRequests {
  /// Fetches zones, or all of them for `nil`.
  func zones(
    for ids: [CKRecordZone.ID]?
  ) async throws(CKError) -> ItemResults<CKRecordZone.ID, CKRecordZone> {
    let ids = ids.map(unique)
    guard ids?.isEmpty != true else { return ItemResults(items: []) }
    try checkCount(ids?.count ?? 0)
    let reply = try await send(.fetchZones(ids?.map(\.value)))
    guard case .zones(let items) = reply else { throw .misplaced(reply) }
    guard let ids else {
      return ItemResults(all: items, CKRecordZoneID.init) { CKRecordZone($0) }
    }
    return ItemResults(items, for: ids, CKRecordZoneID.init) { CKRecordZone($1) }
  }

  /// Creates and deletes zones.
  func modifyZones(
    saving zones: [CKRecordZone], deleting deletedIDs: [CKRecordZone.ID]
  ) async throws(CKError) -> ModifyResults<CKRecordZone.ID, CKRecordZone> {
    let savedIDs = zones.map(\.zoneID)
    guard !(savedIDs.isEmpty && deletedIDs.isEmpty) else { return .empty }
    try checkModification(saving: savedIDs, deleting: deletedIDs, "zone")
    let reply = try await send(
      .modifyZones(
        ModifyZones(save: savedIDs.map(\.value), delete: deletedIDs.map(\.value))))
    guard case .zonesModified(let saved, let deleted) = reply else { throw .misplaced(reply) }
    return ModifyResults(
      saved: ItemResults(saved, for: savedIDs, CKRecordZoneID.init) { CKRecordZone($1) },
      deleted: ItemResults(deleted, for: deletedIDs, CKRecordZoneID.init) { _, _ in })
  }
}
