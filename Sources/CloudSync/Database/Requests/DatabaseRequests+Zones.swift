import CloudProtocol
import Records

extension DatabaseRequests {
  /// Fetches zones, each once, or all zones for `nil`.
  func zones(
    for ids: [CKRecordZone.ID]?
  ) async throws(CKError) -> ItemResults<CKRecordZone.ID, CKRecordZone> {
    let ids = ids?.withoutRepetitions
    guard ids?.isEmpty != true else { return ItemResults(items: []) }
    try checkCount(ids?.count ?? 0)
    let reply = try await send(.fetchZones(ids?.map(\.value)))
    guard case .zones(let items) = reply else { throw .misplaced(reply) }
    let found = ids ?? items.map { CKRecordZoneID($0.id) }
    return ItemResults(items, for: found, by: \.value) { CKRecordZone($1) }
  }

  /// Creates an operation that creates and deletes zones.
  func modifyZones(
    saving zones: [CKRecordZone], deleting deletedIDs: [CKRecordZone.ID]
  ) async throws(CKError) -> ModifyResults<CKRecordZone.ID, CKRecordZone> {
    let savedIDs = zones.map(\.zoneID)
    guard !(savedIDs.isEmpty && deletedIDs.isEmpty) else { return ModifyResults() }
    try checkModification(saving: savedIDs, deleting: deletedIDs, "zone")
    let reply = try await send(
      .modifyZones(
        ModifyZones(save: savedIDs.map(\.value), delete: deletedIDs.map(\.value))))
    guard case .zonesModified(let saved, let deleted) = reply else { throw .misplaced(reply) }
    return ModifyResults(
      saved: ItemResults(saved, for: savedIDs, by: \.value) { CKRecordZone($1) },
      deleted: ItemResults(deleted, for: deletedIDs, by: \.value) { _, _ in })
  }
}
