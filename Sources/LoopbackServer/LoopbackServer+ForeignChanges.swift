public import CloudProtocol
import Synchronization

/// Several servers may share one file; each tells only its own devices.
extension LoopbackServer {
  /// Looks whether another process changed the file and pushes what it changed to this server's
  /// devices.
  ///
  /// Costs next to nothing when there was no change. Every request looks too. Returns whether
  /// any device had something to hear. Throws `networkFailure` when the server is closed, and
  /// what reading the file throws.
  @discardableResult
  public func checkForForeignChanges() throws(CloudError) -> Bool {
    let pushes = try room.foreignPushes()
    post.send(pushes)
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
        // A file that is busy now is looked at again next time.
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
