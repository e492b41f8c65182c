/// Takes down what an engine does and decides, as it happens.
///
/// Set as `CKSyncEngine.Configuration.tracer`. Without one nothing is put together, which costs
/// next to nothing. Not in CloudKit.
public protocol SyncTracer: Sendable {
  /// Takes one entry down.
  ///
  /// Called from any thread, never under a lock of the engine; entries of different threads may
  /// come in another order than their times. It should return soon: the engine waits for it.
  func record(_ entry: SyncTraceEntry)
}
