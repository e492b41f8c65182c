extension CKSyncEngine.Event {
  /// The engine's state changed; the app stores it.
  public struct StateUpdate: Sendable, CustomStringConvertible {
    /// The state to create the next engine with.
    public let stateSerialization: CKSyncEngine.State.Serialization

    /// Creates an event.
    ///
    /// In CloudKit only the engine can create one.
    public init(stateSerialization: CKSyncEngine.State.Serialization) {
      self.stateSerialization = stateSerialization
    }

    /// The name; the state itself is opaque.
    public var description: String { "StateUpdate()" }
  }
}
