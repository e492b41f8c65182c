extension CKSyncEngine {
  /// The settings of a sync engine.
  public struct Configuration: Sendable, CustomStringConvertible {
    /// The database, private or shared.
    public var database: CKDatabase

    /// The state of the last `stateUpdate` event; `nil` for the first launch.
    ///
    /// A state of another container, environment or database is refused; see `stateStoreError`.
    public var stateSerialization: CKSyncEngine.State.Serialization?

    /// The delegate that receives events and supplies records.
    public var delegate: any CKSyncEngineDelegate

    /// Whether the engine fetches and sends automatically.
    ///
    /// The default is `true`.
    public var automaticallySync: Bool

    /// The ID of the subscription that the engine uses or creates; `nil` lets the engine choose it.
    public var subscriptionID: CKSubscription.ID?

    /// The store in which the engine keeps its state, so that a change is durable when `state.add`
    /// returns.
    ///
    /// With `nil` the app stores the state of each `stateUpdate`. Not in CloudKit. A stored state
    /// takes precedence over `stateSerialization`.
    public var stateStore: (any StateStore)?

    /// The clock that times the engine's delays; `nil` for that of the container's
    /// `CloudSyncEnvironment`, or the continuous one.
    ///
    /// Not in CloudKit.
    public var clock: (any Clock<Duration>)?

    /// The executor of the engine's tasks and of the delegate's calls; `nil` for that of the
    /// container's `CloudSyncEnvironment`, or the default one.
    ///
    /// Not in CloudKit.
    public var taskExecutor: (any TaskExecutor)?

    /// The tracer that records the engine's actions; `nil` for none.
    ///
    /// Not in CloudKit.
    public var tracer: (any SyncTracer)?

    /// The number of pending changes up to which the delegate is always shown all of them; tests
    /// use a small one.
    package var leastShownChanges = 10_000

    /// Creates the settings of a sync engine.
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
      clock = nil
    }

    /// The database and the settings.
    public var description: String {
      "Configuration(database: \(database), hasState: \(stateSerialization != nil), "
        + "automaticallySync: \(automaticallySync), "
        + "subscriptionID: \(subscriptionID ?? "none"), hasStateStore: \(stateStore != nil))"
    }
  }
}
