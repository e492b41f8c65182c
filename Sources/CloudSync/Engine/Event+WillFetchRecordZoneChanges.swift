extension CKSyncEngine.Event {
  /// The fetch of one zone begins.
  public struct WillFetchRecordZoneChanges: Sendable {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// Whether the zone is read again from its beginning because the change token had expired.
    ///
    /// Everything there is arrives before `didFetchRecordZoneChanges`; a local record that does
    /// not, and is not pending, was deleted while the feed could not say so. Not in CloudKit,
    /// whose engine leaves such records behind. Source: Docs/Decisions/0004.
    public let startsOver: Bool

    /// Builds the payload; in CloudKit only the engine can.
    public init(zoneID: CKRecordZone.ID, startsOver: Bool = false) {
      self.zoneID = zoneID
      self.startsOver = startsOver
    }
  }
}

extension CKSyncEngine.Event.WillFetchRecordZoneChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "WillFetchRecordZoneChanges(zoneID: \(zoneID), startsOver: \(startsOver))"
  }
}
