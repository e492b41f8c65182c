#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKSyncEngine.Event {
  /// A request about zones was answered.
  public struct SentDatabaseChanges: Sendable {
    /// A zone that could not be made, and why.
    public struct FailedZoneSave: Sendable {
      /// The zone.
      public let zone: CKRecordZone
      /// Why it could not be made.
      public let error: CKError

      /// Notes a failure.
      public init(zone: CKRecordZone, error: CKError) {
        self.zone = zone
        self.error = error
      }
    }

    /// Zones that are there now.
    public let savedZones: [CKRecordZone]

    /// Zones that could not be made, and why.
    public let failedZoneSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave]

    /// Zones that are gone now.
    public let deletedZoneIDs: [CKRecordZone.ID]

    /// Zones that could not be deleted, and why.
    public let failedZoneDeletes: [CKRecordZone.ID: CKError]

    /// Builds the payload; in CloudKit only the engine can.
    public init(
      savedZones: [CKRecordZone] = [],
      failedZoneSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = [],
      deletedZoneIDs: [CKRecordZone.ID] = [], failedZoneDeletes: [CKRecordZone.ID: CKError] = [:]
    ) {
      self.savedZones = savedZones
      self.failedZoneSaves = failedZoneSaves
      self.deletedZoneIDs = deletedZoneIDs
      self.failedZoneDeletes = failedZoneDeletes
    }
  }
}

extension CKSyncEngine.Event.SentDatabaseChanges: CustomStringConvertible {
  /// What it is about, with counts of what it carries.
  public var description: String {
    "SentDatabaseChanges(savedZones: \(savedZones.count), "
      + "failedZoneSaves: \(failedZoneSaves.count), "
      + "deletedZoneIDs: \(deletedZoneIDs.count), "
      + "failedZoneDeletes: \(failedZoneDeletes.count))"
  }
}

extension CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave: CustomStringConvertible {
  /// The zone and the error.
  public var description: String { "FailedZoneSave(zone: \(zone.zoneID), error: \(error))" }
}
