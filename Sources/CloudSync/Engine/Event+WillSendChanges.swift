extension CKSyncEngine.Event {
  /// A send begins.
  public struct WillSendChanges: Sendable {
    /// Why and how it runs.
    public let context: CKSyncEngine.SendChangesContext

    /// Builds the payload; in CloudKit only the engine can.
    public init(context: CKSyncEngine.SendChangesContext) {
      self.context = context
    }
  }
}

extension CKSyncEngine.Event.WillSendChanges: CustomStringConvertible {
  /// What it is about.
  public var description: String {
    "WillSendChanges(context: \(context))"
  }
}
