extension CKSyncEngine {
  /// What an engine works on and with.
  public struct Configuration: Sendable {
    /// The database, private or shared.
    public var database: CKDatabase

    /// The state of the last `stateUpdate` event; `nil` for a first start.
    ///
    /// A state of another container, environment or database is refused; see `stateStoreError`.
    public var stateSerialization: CKSyncEngine.State.Serialization?

    /// Who takes the events in and gives the records out.
    public var delegate: any CKSyncEngineDelegate

    /// Whether the engine sends and fetches by itself; true unless set otherwise.
    public var automaticallySync: Bool

    /// The name of the subscription the engine uses or makes; `nil` for one of its own.
    public var subscriptionID: CKSubscription.ID?

    /// Where the engine keeps its state by itself, so that a change is durable when
    /// `state.add` returns; `nil` leaves it to the app to store each `stateUpdate`.
    ///
    /// Not in CloudKit. What the store holds comes before `stateSerialization`.
    public var stateStore: (any StateStore)?

    /// The clock by which the engine waits; tests put their own here.
    ///
    /// Not in CloudKit.
    public var clock: any Clock<Duration>

    /// Who runs the engine's tasks, and the delegate with them; `nil` for whom the container's
    /// `CloudSyncEnvironment` names, or else the system's threads.
    ///
    /// Not in CloudKit.
    public var taskExecutor: (any TaskExecutor)?

    /// Who takes down what the engine does and decides; `nil` for nobody.
    ///
    /// Not in CloudKit.
    public var tracer: (any SyncTracer)?

    /// Everything an engine must be told.
    public init(
      database: CKDatabase, stateSerialization: CKSyncEngine.State.Serialization?,
      delegate: any CKSyncEngineDelegate
    ) {
      self.database = database
      self.stateSerialization = stateSerialization
      self.delegate = delegate
      automaticallySync = true
      subscriptionID = nil
      stateStore = nil
      tracer = nil
      taskExecutor = nil
      clock = ContinuousClock()
    }
  }
}

extension CKSyncEngine.Configuration: CustomStringConvertible {
  /// The database and the settings.
  public var description: String {
    "Configuration(database: \(database), hasState: \(stateSerialization != nil), "
      + "automaticallySync: \(automaticallySync), "
      + "subscriptionID: \(subscriptionID ?? "none"), hasStateStore: \(stateStore != nil))"
  }
}
