extension CKSyncEngine.Event {
  /// A fetch brought news of zones.
  public struct FetchedDatabaseChanges: Sendable {
    /// Zones that are new or hold changes.
    public let modifications: [CKDatabase.DatabaseChange.Modification]

    /// Zones that are gone, and why.
    public let deletions: [CKDatabase.DatabaseChange.Deletion]

    /// Builds the payload; in CloudKit only the engine can.
    public init(
      modifications: [CKDatabase.DatabaseChange.Modification] = [],
      deletions: [CKDatabase.DatabaseChange.Deletion] = []
    ) {
      self.modifications = modifications
      self.deletions = deletions
    }
  }
}

extension CKSyncEngine.Event.FetchedDatabaseChanges: CustomStringConvertible {
  /// What it is about, with counts of what it carries.
  public var description: String {
    "FetchedDatabaseChanges(modifications: \(modifications.count), "
      + "deletions: \(deletions.count))"
  }
}
