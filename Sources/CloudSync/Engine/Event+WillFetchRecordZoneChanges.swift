extension CKSyncEngine.Event {
  /// The fetch of one zone begins.
  public struct WillFetchRecordZoneChanges: Sendable {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// Whether the zone is read from its beginning: it was never read to its end, its change
    /// token had expired, or an earlier state was restored.
    ///
    /// Everything there is arrives before `didFetchRecordZoneChanges`; what the app once got from
    /// the server and does not get now was deleted while the feed could not say so. Not in
    /// CloudKit, whose engine leaves such records behind. Source: Docs/Decisions/0003.
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
