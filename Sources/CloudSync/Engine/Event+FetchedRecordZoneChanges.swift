extension CKSyncEngine.Event {
  /// A fetch delivered a page of record changes.
  public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
    /// New and changed records.
    public let modifications: [CKDatabase.RecordZoneChange.Modification]

    /// Deleted records.
    public let deletions: [CKDatabase.RecordZoneChange.Deletion]

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(
      modifications: [CKDatabase.RecordZoneChange.Modification] = [],
      deletions: [CKDatabase.RecordZoneChange.Deletion] = []
    ) {
      self.modifications = modifications
      self.deletions = deletions
    }

    /// A description with the numbers of items.
    public var description: String {
      "FetchedRecordZoneChanges(modifications: \(modifications.count), "
        + "deletions: \(deletions.count))"
    }
  }
}
