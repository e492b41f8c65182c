/// Records the actions and decisions of an engine as they happen.
///
/// Set as `CKSyncEngine.Configuration.tracer`. Without a tracer no entries are created. Not in
/// CloudKit.
public protocol SyncTracer: Sendable {
  /// Records an entry.
  ///
  /// Called from any thread, never under a lock of the engine. Entries of different threads may
  /// arrive out of chronological order. It should return quickly, since the engine waits for it.
  func record(_ entry: SyncTraceEntry)
}
