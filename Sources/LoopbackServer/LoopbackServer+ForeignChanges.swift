public import CloudProtocol
import Synchronization

/// Several servers may share one file; each sends pushes only to its own devices.
extension LoopbackServer {
  /// Checks whether another process changed the file, and sends pushes for its changes to this
  /// server's devices.
  ///
  /// The check is cheap if there was no change. Every request performs it, too. Returns whether any
  /// push was sent. Throws `networkFailure` if the server is closed, and what reading the file
  /// throws.
  @discardableResult
  public func checkForForeignChanges() throws(CloudError) -> Bool {
    let pushes = try executor.foreignPushes()
    pushDispatcher.send(pushes)
    return !pushes.isEmpty
  }

  /// Calls `checkForForeignChanges()` every `interval` of the server's delay clock until the
  /// server is closed or released, or the returned task is cancelled.
  @discardableResult
  public func watchForForeignChanges(every interval: Duration = .seconds(1)) -> Task<Void, Never> {
    let clock = controls.clock
    let watch = Task(executorPreference: taskExecutor) { [weak self] in
      while !Task.isCancelled {
        do { try await clock.sleep(for: interval) } catch { return }
        // A busy file is checked again at the next tick.
        guard let self, !self.isClosed else { return }
        _ = try? self.checkForForeignChanges()
      }
    }
    watches.withLock { $0.append(watch) }
    return watch
  }

  /// Whether `close()` was called.
  public var isClosed: Bool { controls.isClosed }
}
