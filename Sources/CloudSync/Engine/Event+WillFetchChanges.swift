extension CKSyncEngine.Event {
  /// A fetch begins.
  public struct WillFetchChanges: Sendable {
    /// Why and how it runs.
    public let context: CKSyncEngine.FetchChangesContext

    /// Builds the payload; in CloudKit only the engine can.
    public init(context: CKSyncEngine.FetchChangesContext) {
      self.context = context
    }
  }
}

extension CKSyncEngine.Event.WillFetchChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "WillFetchChanges(context: \(context))"
  }
}
