package import SyncMachine
import Synchronization

/// Access to a running engine for simulations.
extension CKSyncEngine {
  /// The current state of the engine.
  package var syncState: SyncState { driver.core.withLock { $0.machine.state } }

  /// The number of calls that wait for an operation.
  package var waiterCount: Int { driver.core.withLock { $0.waiters.count } }

  /// The current stage of the engine.
  package var stage: Stage { driver.core.withLock { $0.machine.stage } }
}
