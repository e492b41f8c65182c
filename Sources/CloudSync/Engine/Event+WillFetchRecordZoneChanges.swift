extension CKSyncEngine.Event {
  /// The fetch of one zone begins.
  public struct WillFetchRecordZoneChanges: Sendable {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// Builds the payload; in CloudKit only the engine can.
    public init(zoneID: CKRecordZone.ID) {
      self.zoneID = zoneID
    }
  }
}

extension CKSyncEngine.Event.WillFetchRecordZoneChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "WillFetchRecordZoneChanges(zoneID: \(zoneID))"
  }
}
