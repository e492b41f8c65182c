package import SyncMachine
import Synchronization

/// What a simulation sees of an engine that runs.
extension CKSyncEngine {
  /// What the engine remembers now.
  package var syncState: SyncState { driver.core.withLock { $0.machine.state } }

  /// How many calls wait for an operation.
  package var waiterCount: Int { driver.core.withLock { $0.waiters.count } }

  /// What the engine is busy with now.
  package var stage: Stage { driver.core.withLock { $0.machine.stage } }
}
