extension CKSyncEngine.Event {
  /// A fetch brought records.
  public struct FetchedRecordZoneChanges: Sendable {
    /// Records that are new or changed.
    public let modifications: [CKDatabase.RecordZoneChange.Modification]

    /// Records that are gone.
    public let deletions: [CKDatabase.RecordZoneChange.Deletion]

    /// Builds the payload; in CloudKit only the engine can.
    public init(
      modifications: [CKDatabase.RecordZoneChange.Modification] = [],
      deletions: [CKDatabase.RecordZoneChange.Deletion] = []
    ) {
      self.modifications = modifications
      self.deletions = deletions
    }
  }
}

extension CKSyncEngine.Event.FetchedRecordZoneChanges: CustomStringConvertible {
  /// What it is about, with counts of what it carries.
  public var description: String {
    "FetchedRecordZoneChanges(modifications: \(modifications.count), "
      + "deletions: \(deletions.count))"
  }
}
