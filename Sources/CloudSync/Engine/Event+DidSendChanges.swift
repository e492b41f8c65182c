extension CKSyncEngine.Event {
  /// A send ended; it carries no error.
  public struct DidSendChanges: Sendable {
    /// Why and how it ran.
    public let context: CKSyncEngine.SendChangesContext

    /// Builds the payload; in CloudKit only the engine can.
    public init(context: CKSyncEngine.SendChangesContext) {
      self.context = context
    }
  }
}

extension CKSyncEngine.Event.DidSendChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "DidSendChanges(context: \(context))"
  }
}
