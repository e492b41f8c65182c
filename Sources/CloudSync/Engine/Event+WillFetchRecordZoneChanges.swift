extension CKSyncEngine.Event {
  /// The fetch of one zone begins.
  public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
    /// The zone whose changes follow.
    public let zoneID: CKRecordZone.ID

    /// Whether the zone is fetched from the start: it was never fetched, its change token had
    /// expired, or an earlier state was restored.
    ///
    /// If so, all records of the zone are delivered before `didFetchRecordZoneChanges`. Records
    /// that the app once received and does not receive now have been deleted. Not in CloudKit,
    /// whose engine does not report such deletions. See Docs/Decisions/0003.
    public let startsOver: Bool

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(zoneID: CKRecordZone.ID, startsOver: Bool = false) {
      self.zoneID = zoneID
      self.startsOver = startsOver
    }

    /// A description with the zone.
    public var description: String {
      "WillFetchRecordZoneChanges(zoneID: \(zoneID), startsOver: \(startsOver))"
    }
  }
}
