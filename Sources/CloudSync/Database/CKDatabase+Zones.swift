#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKDatabase {
  /// Fetches all zones of the database.
  public func allRecordZones() async throws -> [CKRecordZone] {
    try await requests.zones(for: nil).values
  }

  /// Fetches one zone.
  /// - Throws: the zone's own error, such as `zoneNotFound`.
  public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
    try await requests.zones(for: [zoneID]).only(zoneID)
  }

  /// Fetches zones; returns a zone or an error for each ID.
  public func recordZones(
    for ids: [CKRecordZone.ID]
  ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
    try await requests.zones(for: ids).byID
  }

  /// Creates a zone; an existing zone stays unchanged.
  /// - Throws: the zone's own error, such as `badDatabase`.
  @discardableResult
  public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
    try await connection.uncancelled { [requests] in
      try await requests.modifyZones(saving: [zone], deleting: [])
    }.saved.only(zone.zoneID)
  }

  /// Deletes a zone with its records.
  /// - Throws: the zone's own error, such as `zoneNotFound`.
  @discardableResult
  public func deleteRecordZone(
    withID zoneID: CKRecordZone.ID
  ) async throws -> CKRecordZone.ID {
    try await connection.uncancelled { [requests] in
      try await requests.modifyZones(saving: [], deleting: [zoneID])
    }.deleted.only(zoneID)
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
    try await connection.uncancelled { [requests] in
      try await requests.modifyZones(saving: recordZonesToSave, deleting: recordZoneIDsToDelete)
    }.byID
  }
}
