extension CKSyncEngine.Event {
  /// A fetch delivered a page of zone changes.
  public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
    /// Zones that are new or have changes.
    public let modifications: [CKDatabase.DatabaseChange.Modification]

    /// Deleted zones, with the reasons.
    public let deletions: [CKDatabase.DatabaseChange.Deletion]

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(
      modifications: [CKDatabase.DatabaseChange.Modification] = [],
      deletions: [CKDatabase.DatabaseChange.Deletion] = []
    ) {
      self.modifications = modifications
      self.deletions = deletions
    }

    /// A description with the numbers of items.
    public var description: String {
      "FetchedDatabaseChanges(modifications: \(modifications.count), "
        + "deletions: \(deletions.count))"
    }
  }
}
