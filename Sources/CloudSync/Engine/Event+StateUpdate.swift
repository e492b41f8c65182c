extension CKSyncEngine.Event {
  /// The engine's state changed: store it.
  public struct StateUpdate: Sendable {
    /// The state to give to the next engine.
    public let stateSerialization: CKSyncEngine.State.Serialization

    /// Builds the payload; in CloudKit only the engine can.
    public init(stateSerialization: CKSyncEngine.State.Serialization) {
      self.stateSerialization = stateSerialization
    }
  }
}

extension CKSyncEngine.Event.StateUpdate: CustomStringConvertible {
  /// The name; the state itself is opaque.
  public var description: String { "StateUpdate()" }
}
