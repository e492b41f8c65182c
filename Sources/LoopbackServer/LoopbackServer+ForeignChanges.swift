import CloudMachine
public import CloudProtocol
import Synchronization

/// Several servers may share one file; each sends pushes only to its own devices.
extension LoopbackServer {
  /// Checks whether another process changed the data, and sends pushes for its changes to this
  /// server's devices.
  ///
  /// On PostgreSQL, the faults and limits that other processes have set hold here from then on.
  /// The check is cheap if there was no change. On a file every request performs it, too. Returns
  /// whether any push was sent. Throws `networkFailure` if the server is closed, and what reading
  /// the data throws.
  @discardableResult
  public func checkForForeignChanges() throws(CloudError) -> Bool {
    // Pushes are sent even if the faults can't be read.
    try? controls.synchronize()
    let pushes = try executor.foreignPushes { pushDispatcher.accounts }
    pushDispatcher.send(pushes)
    return !pushes.isEmpty
  }

  /// Sends pushes for the changes in certain databases by another process; in all that devices
  /// here look at if none is named.
  func check(_ databases: [DatabaseID]) {
    // A check that fails is repeated at the next tick.
    guard !databases.isEmpty else { return _ = try? checkForForeignChanges() }
    if let pushes = try? executor.foreignPushes(in: databases, to: pushDispatcher.accounts) {
      pushDispatcher.send(pushes)
    }
  }

  /// Calls `checkForForeignChanges()` every `interval` of the server's delay clock until the
  /// server is closed or released, or the returned task is cancelled.
  @discardableResult
  public func watchForForeignChanges(every interval: Duration = .seconds(1)) -> Task<Void, Never> {
    let clock = controls.clock
    let watch = Task(executorPreference: taskExecutor) { [weak self] in
      while !Task.isCancelled {
        do { try await clock.sleep(for: interval) } catch { return }
        // A busy database is checked again at the next tick.
        guard let self, !self.isClosed else { return }
        _ = try? await self.executor.storages.run { () throws(CloudError) in
          try self.checkForForeignChanges()
        }
      }
    }
    watches.withLock { $0.append(watch) }
    return watch
  }

  /// Whether `close()` was called.
  public var isClosed: Bool { controls.isClosed }
}
