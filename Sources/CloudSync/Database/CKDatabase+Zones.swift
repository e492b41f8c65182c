import CloudProtocol
import Records

extension CKDatabase {
  /// Fetches all zones of the database.
  public func allRecordZones() async throws -> [CKRecordZone] {
    let reply = try await send(.fetchZones(nil))
    guard case .zones(let items) = reply else { throw CKError.misplaced(reply) }
    return items.compactMap { $0.value.map { CKRecordZone($0) } }
  }

  /// Fetches one zone.
  /// - Throws: the zone's own error, such as `zoneNotFound`.
  public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
    try await one(recordZones(for: [zoneID])[zoneID], zoneID)
  }

  /// Fetches zones; answers a zone or an error for each ID.
  public func recordZones(
    for ids: [CKRecordZone.ID]
  ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
    guard !ids.isEmpty else { return [:] }
    try checkCount(ids.count)
    let reply = try await send(.fetchZones(ids.map(\.value)))
    guard case .zones(let items) = reply else { throw CKError.misplaced(reply) }
    return results(items, for: ids, CKRecordZoneID.init) { CKRecordZone($1) }
  }

  /// Creates a zone; one that exists is left as it is.
  /// - Throws: the zone's own error, such as `badDatabase`.
  @discardableResult
  public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
    let results = try await modifyRecordZones(saving: [zone], deleting: [])
    return try one(results.saveResults[zone.zoneID], zone.zoneID)
  }

  /// Deletes a zone with all it holds.
  /// - Throws: the zone's own error, such as `zoneNotFound`.
  @discardableResult
  public func deleteRecordZone(
    withID zoneID: CKRecordZone.ID
  ) async throws -> CKRecordZone.ID {
    let results = try await modifyRecordZones(saving: [], deleting: [zoneID])
    try one(results.deleteResults[zoneID], zoneID)
    return zoneID
  }

  /// Creates and deletes zones in one request; single failures do not throw.
  @discardableResult
  public func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
  ) async throws -> (
    saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
    deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
  ) {
    let savedIDs = recordZonesToSave.map(\.zoneID)
    guard !(savedIDs.isEmpty && recordZoneIDsToDelete.isEmpty) else { return ([:], [:]) }
    try checkCount(savedIDs.count + recordZoneIDsToDelete.count)
    try checkUnique(savedIDs + recordZoneIDsToDelete, "zone")
    let reply = try await send(
      .modifyZones(
        ModifyZones(save: savedIDs.map(\.value), delete: recordZoneIDsToDelete.map(\.value))))
    guard case .zonesModified(let saved, let deleted) = reply else {
      throw CKError.misplaced(reply)
    }
    return (
      results(saved, for: savedIDs, CKRecordZoneID.init) { CKRecordZone($1) },
      results(deleted, for: recordZoneIDsToDelete, CKRecordZoneID.init) { _, _ in }
    )
  }
}
