public import SyncSupport
import Synchronization

/// Starting, stopping, and all requests for a sync.
extension GameResultStore {
  /// How long the store waits for a push before it fetches by itself.
  static let pollInterval = Duration.seconds(300)

  /// Starts to sync, as when an app enters the foreground; a second call does nothing.
  ///
  /// Fetches at once, then after each push, and every five minutes without one.
  ///
  /// - Throws: `FileError` if the state of the last run can't be read; nothing is changed then.
  public func start() throws {
    try state.withLock { state in
      guard !loop.isRunning else { return }
      let updates = store.statusUpdates
      try store.start()
      state.beginRun()
      loop.start { [weak self] in await self?.pass() }
      state.ask([.fetch, .fresh])
      state.observation = Task { [weak self] in
        for await _ in updates { self?.follow() }
      }
    }
  }

  /// Stops to sync, as when an app enters the background.
  ///
  /// Unsent changes wait for the next start. Returns when no request is in flight any more; a
  /// second call does nothing.
  public func stop() async {
    let (pass, waiters) = state.withLock { state in
      defer { (state.waiters, state.wants) = ([], []) }
      state.observation?.cancel()
      return (loop.close(), state.waiters)
    }
    await store.cancelOperations()
    await pass?.value
    let end = state.withLock(\.syncState)
    for waiter in waiters { waiter.resume(returning: end) }
    // The store may have been started again; the next start repeats what can't be stored.
    if !loop.isRunning { try? await store.shutDown() }
  }

  /// Syncs now: sends unsent changes, fetches new ones, and tries again what was given up.
  ///
  /// - Returns: the state of the sync afterwards; a failure is reported there and not thrown.
  /// - Throws: `SyncedStoreError.isStopped` before ``start()`` or after ``stop()``.
  @discardableResult
  public func syncNow() async throws -> SyncState {
    try await withCheckedThrowingContinuation { done in
      let isStarted = state.withLock { state in
        guard loop.isRunning else { return false }
        state.waiters.append(done)
        take(state.uploads?.takeAll() ?? [], &state)
        state.ask([.fetch, .manual, .fresh])
        return true
      }
      if !isStarted { done.resume(throwing: SyncedStoreError.isStopped) }
    }
  }

  /// Takes a group from the upload queue.
  func flushed(_ group: [CKRecord.ID]) {
    state.withLock { state in
      take(group, &state)
      state.ask(.fresh)
    }
  }

  private func take(_ group: [CKRecord.ID], _ state: inout State) {
    state.held.subtract(group)
    state.groups.append(group)
  }

  /// Syncs if a push is one of this store's subscription.
  ///
  /// - Returns: whether it was.
  @discardableResult
  public func receivedPush(subscriptionID: CKSubscription.ID?) -> Bool {
    guard subscriptionID == Self.subscriptionID else { return false }
    ask([.fetch, .fresh])
    return true
  }

  /// Syncs if a notification, as an app delegate receives it, is one of this store's subscription.
  ///
  /// - Returns: whether it was.
  @discardableResult
  public func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) -> Bool {
    let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
    return receivedPush(subscriptionID: notification?.subscriptionID)
  }

  /// Syncs at once, because the network is available again.
  public func networkBecameAvailable() {
    ask([.fetch, .fresh])
  }

  private func ask(_ wants: Wants) {
    state.withLock { $0.ask(wants) }
  }

  /// Asks for a pass after a while, in place of the earlier timer with this name.
  func setTimer(_ name: String, after delay: Duration?, _ wants: Wants) {
    loop.setTimer(name, after: delay) { [weak self] in self?.ask(wants) }
  }
}
