extension CKSyncEngine.Event {
  /// A send ended; it carries no error.
  public struct DidSendChanges: Sendable, CustomStringConvertible {
    /// The reason and the options of the send.
    public let context: CKSyncEngine.SendChangesContext

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(context: CKSyncEngine.SendChangesContext) {
      self.context = context
    }

    /// A description with the context.
    public var description: String {
      "DidSendChanges(context: \(context))"
    }
  }
}
