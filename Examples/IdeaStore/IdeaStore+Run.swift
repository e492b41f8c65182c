import Foundation
public import SyncSupport
import Synchronization

/// Starting, stopping, and everything that makes a sync happen.
extension IdeaStore {
  /// Begins to sync; a second call does nothing.
  ///
  /// Looks for changes at once, then after each trigger and when the schedule says.
  public func start() {
    state.withLock { state in
      guard loop.start({ [weak self] in await self?.passInTurn() }) else { return }
      state.accounts = AccountObservation(notificationCenter) { [weak self] in
        self?.accountMayHaveChanged()
      }
      state.refused = [:]
      state.activity.isStorageFull = false
      state.hasSubscribed = false
      state.plan.reset()
      state.ask(fetching: true)
    }
  }

  /// Stops syncing; what was not sent waits for the next start.
  ///
  /// Returns when nothing is under way any more; a second call does nothing.
  public func stop() async {
    // The observation ends outside of the lock that its listener takes.
    let (pass, accounts) = state.withLock { state in
      defer {
        state.accounts = nil
        state.activity.nextAttempt = nil
        state.wants = IdeaState.Wants()
        // A pass that `syncNow` began takes no further step.
        state.generation += 1
      }
      return (loop.close(), state.accounts)
    }
    accounts?.end()
    await pass?.value
    await operations.run {}
    state.withLock { state in
      state.flush()
      if state.activity.phase == .syncing { state.activity.phase = .waiting }
      state.tell()
    }
  }

  /// Syncs now, as when a person asks: everything in the cloud is compared, everything that waits
  /// is sent, and what was given up is tried again.
  ///
  /// - Returns: where sync stands when that is done; a failure is reported there and not thrown.
  /// - Throws: `SyncedStoreError.isStopped` before ``start()`` or after ``stop()``.
  @discardableResult
  public func syncNow() async throws -> IdeaSyncStatus {
    try state.withLock { state in
      guard loop.isRunning else { throw SyncedStoreError.isStopped }
      note(.byHand, startsLoop: false, &state)
    }
    // In the task of the caller, unless the loop comes first.
    return await passInTurn()
  }

  /// - Returns: where sync stands before another pass can begin.
  @discardableResult
  private func passInTurn() async -> IdeaSyncStatus {
    await operations.run {
      await pass()
      return status
    }
  }

  /// Something happened that is a reason to sync: what waits is tried again with a fresh plan.
  public func trigger(_ trigger: IdeaSyncTrigger) {
    state.withLock { note(trigger, &$0) }
  }

  private func note(
    _ trigger: IdeaSyncTrigger, startsLoop: Bool = true, _ state: inout IdeaState
  ) {
    state.ask(fetching: trigger != .localChange, startsLoop: startsLoop) { wants in
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
    CKNotification(fromRemoteNotificationDictionary: userInfo).map(receivedPush) ?? false
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
    state.withLock { state in
      state.ask(fetching: true) { wants in
        if let recordName { wants.names.insert(recordName) } else { wants.sweeps = true }
      }
    }
  }
}
