extension CKSyncEngine.Event {
  /// The fetch of one zone ended.
  public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
    /// The zone whose fetch ended.
    public let zoneID: CKRecordZone.ID

    /// The error of the fetch, if it failed.
    ///
    /// `operationCancelled` if it was cancelled, or if the zone left the scope before all of its
    /// changes were fetched.
    public let error: CKError?

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(zoneID: CKRecordZone.ID, error: CKError? = nil) {
      self.zoneID = zoneID
      self.error = error
    }

    /// A description with the numbers of items.
    public var description: String {
      "DidFetchRecordZoneChanges(zoneID: \(zoneID), "
        + "error: \(error.map(\.description) ?? "none"))"
    }
  }
}
