#if canImport(ObjectiveC)
  // There the IDs are Hashable as NSObject is, which this module declares.
  public import ObjectiveC
#endif

extension CKSyncEngine.Event {
  /// The results of a request for zone changes.
  public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
    /// A zone that could not be saved, with its error.
    public struct FailedZoneSave: Sendable, CustomStringConvertible {
      /// A zone with the ID of the pending change; it has none of the properties that the app set.
      public let zone: CKRecordZone
      /// The server's reason for the refusal, or the failure of the request.
      public let error: CKError

      /// Creates a failure.
      public init(zone: CKRecordZone, error: CKError) {
        self.zone = zone
        self.error = error
      }

      /// The zone and the error.
      public var description: String { "FailedZoneSave(zone: \(zone.zoneID), error: \(error))" }
    }

    /// Zones that were saved.
    public let savedZones: [CKRecordZone]

    /// Zones that could not be saved, with their errors.
    public let failedZoneSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave]

    /// Zones that were deleted.
    public let deletedZoneIDs: [CKRecordZone.ID]

    /// Zones that could not be deleted, with their errors.
    public let failedZoneDeletes: [CKRecordZone.ID: CKError]

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
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

    /// A description with the numbers of items.
    public var description: String {
      "SentDatabaseChanges(savedZones: \(savedZones.count), "
        + "failedZoneSaves: \(failedZoneSaves.count), "
        + "deletedZoneIDs: \(deletedZoneIDs.count), "
        + "failedZoneDeletes: \(failedZoneDeletes.count))"
    }
  }
}
