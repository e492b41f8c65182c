extension CKSyncEngine.Event {
  /// A send begins.
  public struct WillSendChanges: Sendable, CustomStringConvertible {
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
      "WillSendChanges(context: \(context))"
    }
  }
}
