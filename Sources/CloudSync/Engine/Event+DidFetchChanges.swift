extension CKSyncEngine.Event {
  /// A fetch ended; it carries no error.
  public struct DidFetchChanges: Sendable {
    /// Why and how it ran.
    public let context: CKSyncEngine.FetchChangesContext

    /// Builds the payload; in CloudKit only the engine can.
    public init(context: CKSyncEngine.FetchChangesContext) {
      self.context = context
    }
  }
}

extension CKSyncEngine.Event.DidFetchChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "DidFetchChanges(context: \(context))"
  }
}
