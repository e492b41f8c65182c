extension CKSyncEngine.Event {
  /// The fetch of one zone ended.
  public struct DidFetchRecordZoneChanges: Sendable {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// Why it failed, when it did.
    public let error: CKError?

    /// Builds the payload; in CloudKit only the engine can.
    public init(zoneID: CKRecordZone.ID, error: CKError? = nil) {
      self.zoneID = zoneID
      self.error = error
    }
  }
}

extension CKSyncEngine.Event.DidFetchRecordZoneChanges: CustomStringConvertible {
  /// What it is about, with counts of what it carries.
  public var description: String {
    "DidFetchRecordZoneChanges(zoneID: \(zoneID), "
      + "error: \(error.map(\.description) ?? "none"))"
  }
}
