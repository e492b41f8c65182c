public import CloudSync
public import SyncSupport
import Synchronization

/// Starting, stopping, and everything that asks for a sync.
extension GameResultStore {
  /// How long the store waits for a push before it looks by itself.
  static let pollInterval = Duration.seconds(300)

  /// Begins to sync, as when an app comes to the foreground; a second call does nothing.
  ///
  /// Looks for changes at once, then after each push, and every five minutes without one.
  /// - Throws: `FileError` when the state of the last run can't be read; nothing is changed then.
  public func start() throws {
    guard !sync.isRunning else { return }
    let (bells, bell) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isNew = core.state.withLock { state in
      guard state.bell == nil else { return false }
      core.beginRun(&state)
      state.bell = bell
      return true
    }
    guard isNew else { return }
    do {
      try sync.start()
    } catch {
      core.state.withLock { $0.bell = nil }
      throw error
    }
    core.state.withLock { state in
      core.ask(StoreCore.Wants(fetch: true, isFresh: true), &state)
      state.loop = Task { [weak self] in
        for await _ in bells {
          guard let self else { return }
          await pass()
        }
      }
    }
  }

  /// Stops syncing, as when an app goes to the background.
  ///
  /// What was not sent waits for the next start. Returns when nothing is under way any more; a
  /// second call does nothing.
  public func stop() async {
    let (loop, waiters) = core.state.withLock { state in
      let run = (state.loop, state.waiters)
      state.bell?.finish()
      state.bell = nil
      state.loop = nil
      state.waiters = []
      state.retryTimer?.cancel()
      state.pollTimer?.cancel()
      state.wants = StoreCore.Wants()
      return run
    }
    loop?.cancel()
    await sync.cancelOperations()
    await loop?.value
    for waiter in waiters { waiter.resume() }
    // The next start repeats what could not be written.
    try? await sync.shutDown()
    sync.release()
  }

  /// Syncs now: sends what waits, fetches what is new, and tries again what was given up.
  ///
  /// - Returns: where sync stands when that is done; a failure is reported there and not thrown.
  /// - Throws: ``StoreError/notStarted`` before ``start()`` or after ``stop()``.
  @discardableResult
  public func syncNow() async throws -> SyncState {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      let isStarted = core.state.withLock { state in
        guard state.bell != nil else { return false }
        state.waiters.append(done)
        let group = uploads.takeAll()
        state.held.subtract(group)
        state.groups.append(group)
        core.ask(StoreCore.Wants(fetch: true, isManual: true, isFresh: true), &state)
        return true
      }
      if !isStarted { done.resume(throwing: StoreError.notStarted) }
    }
    return core.state.withLock { $0.syncState }
  }

  /// A push arrived: syncs when it is of this store's subscription.
  ///
  /// - Returns: whether it was.
  @discardableResult
  public func receivedPush(subscriptionID: CKSubscription.ID?) -> Bool {
    guard subscriptionID == Self.subscriptionID else { return false }
    core.ask(StoreCore.Wants(fetch: true, isFresh: true))
    return true
  }

  /// The same for what an app delegate is given.
  @discardableResult
  public func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) -> Bool {
    let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
    return receivedPush(subscriptionID: notification?.subscriptionID)
  }

  /// The network is back: what waited for it goes at once.
  public func networkBecameAvailable() {
    core.ask(StoreCore.Wants(fetch: true, isFresh: true))
  }
}

/// Why a call could not be carried out.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The store is not syncing.
  case notStarted

  /// One sentence for people.
  public var description: String {
    switch self {
    case .notStarted: "sync is not running; start the store first"
    }
  }
}
