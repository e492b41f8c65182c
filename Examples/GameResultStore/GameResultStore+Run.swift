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
      guard state.bell == nil else { return }
      let updates = store.statusUpdates
      try store.start()
      let (bells, bell) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
      state.beginRun()
      state.bell = bell
      state.ask([.fetch, .fresh])
      state.observation = Task { [weak self] in
        for await _ in updates { self?.follow() }
      }
      state.loop = Task { [weak self] in
        for await _ in bells {
          guard let self else { return }
          await pass()
        }
      }
    }
  }

  /// Stops to sync, as when an app enters the background.
  ///
  /// Unsent changes wait for the next start. Returns when no request is in flight any more; a
  /// second call does nothing.
  public func stop() async {
    let (loop, waiters) = state.withLock { state in
      let run = (state.loop, state.waiters)
      state.bell?.finish()
      state.bell = nil
      state.loop = nil
      state.waiters = []
      state.cancelTasks()
      state.wants = []
      return run
    }
    loop?.cancel()
    await store.cancelOperations()
    await loop?.value
    let end = state.withLock(\.syncState)
    for waiter in waiters { waiter.resume(returning: end) }
    // The next start repeats what can't be stored.
    try? await store.shutDown()
  }

  /// Syncs now: sends unsent changes, fetches new ones, and tries again what was given up.
  ///
  /// - Returns: the state of the sync afterwards; a failure is reported there and not thrown.
  /// - Throws: ``StoreError/notStarted`` before ``start()`` or after ``stop()``.
  @discardableResult
  public func syncNow() async throws -> SyncState {
    try await withCheckedThrowingContinuation { done in
      let isStarted = state.withLock { state in
        guard state.bell != nil else { return false }
        state.waiters.append(done)
        take(state.uploads?.takeAll() ?? [], &state)
        state.ask([.fetch, .manual, .fresh])
        return true
      }
      if !isStarted { done.resume(throwing: StoreError.notStarted) }
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

  /// A task that asks for a pass after a while.
  func timer(_ delay: Duration, _ wants: Wants) -> Task<Void, Never> {
    Task { [clock, weak self] in
      guard (try? await clock.sleep(for: delay)) != nil else { return }
      self?.ask(wants)
    }
  }
}
