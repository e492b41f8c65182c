public import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Starting, stopping, and everything that makes a sync happen.
extension IdeaStore {
  /// Begins to sync; a second call does nothing.
  ///
  /// Looks for changes at once, then after each trigger and when the schedule says.
  public func start() {
    let (bells, bell) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    core.state.withLock { state in
      guard state.bell == nil else { return }
      // Under the lock: the engine's first event must find that the engine is ours.
      state.engine = engine()
      state.bell = bell
      state.accounts = AccountObservation(notificationCenter) { [weak core] in
        core?.accountSignalled()
      }
      state.groups = []
      state.offered = [:]
      state.refused = [:]
      state.isStorageFull = false
      state.hasSubscribed = false
      state.plan.reset()
      core.ask(&state, fetching: true)
      state.loop = Task { [weak self] in
        for await _ in bells {
          guard let self else { return }
          await pass()
        }
      }
    }
  }

  /// An engine that only does what it is told: it keeps no state, for what is pending is in the
  /// store's own file, and it is never asked to fetch, for the default zone is in no feed.
  private func engine() -> CKSyncEngine {
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    configuration.clock = clock
    return CKSyncEngine(configuration)
  }

  /// Stops syncing; what was not sent waits for the next start.
  ///
  /// Returns when nothing is under way any more; a second call does nothing.
  public func stop() async {
    // The observation ends outside of the lock that its listener takes.
    let (engine, loop, waiters, accounts) = core.state.withLock { state in
      let run = (state.engine, state.loop, state.waiters, state.accounts)
      state.bell?.finish()
      state.bell = nil
      state.accounts = nil
      state.loop = nil
      state.waiters = []
      state.retryTimer?.cancel()
      state.schedule?.cancel()
      state.nextAttempt = nil
      state.wants = IdeaCore.Wants()
      return run
    }
    accounts?.end()
    loop?.cancel()
    await engine?.cancelOperations()
    await loop?.value
    let status = core.state.withLock { state in
      core.flush(&state)
      if state.engine === engine { state.engine = nil }
      if state.phase == .syncing { state.phase = .waiting }
      state.tell()
      return state.status
    }
    for waiter in waiters { waiter.resume(returning: status) }
  }

  /// Syncs now, as when a person asks: everything in the cloud is compared, everything that waits
  /// is sent, and what was given up is tried again.
  ///
  /// - Returns: where sync stands when that is done; a failure is reported there and not thrown.
  /// - Throws: ``StoreError/notStarted`` before ``start()`` or after ``stop()``.
  @discardableResult
  public func syncNow() async throws -> IdeaSyncStatus {
    try await withCheckedThrowingContinuation {
      (done: CheckedContinuation<IdeaSyncStatus, any Error>) in
      let isStarted = core.state.withLock { state in
        guard state.bell != nil else { return false }
        state.waiters.append(done)
        note(.byHand, &state)
        return true
      }
      if !isStarted { done.resume(throwing: StoreError.notStarted) }
    }
  }

  /// Something happened that is a reason to sync: what waits is tried again with a fresh plan.
  public func trigger(_ trigger: IdeaSyncTrigger) {
    core.state.withLock { note(trigger, &$0) }
  }

  private func note(_ trigger: IdeaSyncTrigger, _ state: inout IdeaCore.State) {
    core.ask(&state, fetching: trigger != .localChange) { wants in
      wants.isByHand = wants.isByHand || trigger == .byHand
      wants.sweeps = wants.sweeps || trigger == .byHand
    }
  }

  // MARK: Pushes

  /// A push arrived, as an app delegate is given it.
  ///
  /// - Returns: whether it was one of this store's subscription.
  @discardableResult
  public func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) -> Bool {
    guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
      return false
    }
    return receivedPush(notification)
  }

  /// A push arrived: the idea it names is fetched, and whatever else is new.
  ///
  /// - Returns: whether it was one of this store's subscription.
  @discardableResult
  public func receivedPush(_ notification: CKNotification) -> Bool {
    guard notification.subscriptionID == Self.subscriptionID else { return false }
    let query = notification as? CKQueryNotification
    receivedPush(recordName: query?.recordID?.recordName)
    return true
  }

  /// A push of this store's subscription arrived.
  ///
  /// - Parameter recordName: the record it names; `nil` when it names none, as after pushes were
  ///   lost. Then something may have been deleted, so every name is compared.
  public func receivedPush(recordName: String?) {
    core.state.withLock { state in
      core.ask(&state, fetching: true) { wants in
        if let recordName { wants.names.insert(recordName) } else { wants.sweeps = true }
      }
    }
  }
}
