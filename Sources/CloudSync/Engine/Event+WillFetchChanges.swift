extension CKSyncEngine.Event {
  /// A fetch begins.
  public struct WillFetchChanges: Sendable, CustomStringConvertible {
    /// The reason and the options of the fetch.
    public let context: CKSyncEngine.FetchChangesContext

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(context: CKSyncEngine.FetchChangesContext) {
      self.context = context
    }

    /// A description with the context.
    public var description: String {
      "WillFetchChanges(context: \(context))"
    }
  }
}
