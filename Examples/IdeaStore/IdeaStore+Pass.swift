import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// One pass of sync: who is signed in, what is new, what is to be sent, and when to try again.
extension IdeaStore {
  /// How long a busy zone is left alone when it does not say itself.
  static let busyWait = Duration.seconds(60)

  private typealias Begun = (
    engine: CKSyncEngine, wants: IdeaCore.Wants,
    waiters: [CheckedContinuation<IdeaSyncStatus, any Error>],
    accountSignals: UInt64, epoch: UInt64
  )

  func pass() async {
    guard let (engine, wants, waiters, accountSignals, begun) = beginPass() else { return }
    var failure: CKError?
    do {
      let epoch = try await verifyAccount()
      if wants.fetches {
        if core.isAutomatic { await subscribe() }
        try await fetch(wants, epoch)
      }
      try await send(engine, epoch)
    } catch {
      failure = (error as? CKError) ?? CKError(.internalError)
    }
    if failure?.code == .operationCancelled,
      beginAnew(wants, waiters, accountSignals, begun)
    {
      return
    }
    let status = endPass(failure, wants, accountSignals)
    for waiter in waiters { waiter.resume(returning: status) }
  }

  private func beginPass() -> Begun? {
    core.state.withLock { state in
      guard let engine = state.engine, state.bell != nil, state.wants.isAsked else { return nil }
      var wants = state.wants
      // Before anything was fetched nobody knows what a change would meet.
      wants.fetches = wants.fetches || state.settings.highWater == nil
      let waiters = state.waiters
      state.wants = IdeaCore.Wants()
      state.waiters = []
      state.retryTimer?.cancel()
      state.retryTimer = nil
      state.nextAttempt = nil
      if wants.isFresh { state.plan.reset() }
      if wants.isByHand {
        state.isStorageFull = false
        state.refused = [:]
      }
      state.phase = .syncing
      state.tell()
      return (engine, wants, waiters, state.accountSignals, state.epoch)
    }
  }

  /// After the account changed under a pass: whoever waits gets another pass, with the new account.
  ///
  /// - Returns: whether there is one; a pass that was cancelled for another reason simply failed.
  private func beginAnew(
    _ wants: IdeaCore.Wants, _ waiters: [CheckedContinuation<IdeaSyncStatus, any Error>],
    _ accountSignals: UInt64, _ epoch: UInt64
  ) -> Bool {
    core.state.withLock { state in
      guard state.bell != nil,
        state.epoch != epoch || state.accountSignals != accountSignals
      else { return false }
      state.waiters += waiters
      core.flush(&state)
      core.ask(&state, fetching: true) { again in
        again.sweeps = again.sweeps || wants.sweeps
        again.isByHand = again.isByHand || wants.isByHand
      }
      return true
    }
  }

  private func endPass(
    _ failure: CKError?, _ wants: IdeaCore.Wants, _ accountSignals: UInt64
  ) -> IdeaSyncStatus {
    core.state.withLock { state in
      if let failure {
        settle(failure, wants, &state)
        // What was said of the account meanwhile, the pass may not have heard.
        if state.accountSignals != accountSignals { core.askAgainIfAccountFailed(&state) }
      } else {
        state.plan.reset()
        state.phase = .synced
        state.code = nil
        state.message = nil
        let now = core.now().wholeMilliseconds
        core.change(&state) { $0.lastSync = now }
      }
      core.flush(&state)
      restartSchedule(&state)
      state.tell()
      return state.status
    }
  }

  private func settle(
    _ failure: CKError, _ wants: IdeaCore.Wants, _ state: inout IdeaCore.State
  ) {
    // What was wanted and not done is wanted again with whatever comes next.
    state.wants.fetches = state.wants.fetches || wants.fetches
    state.wants.sweeps = state.wants.sweeps || wants.sweeps
    state.wants.names.formUnion(wants.names)
    guard state.bell != nil else {
      state.phase = .waiting
      return
    }
    let rule = IdeaErrorRule.rule(for: failure.code)
    let delay = core.isAutomatic ? delay(failure, rule.handling, &state) : nil
    state.code = failure.code
    state.message = rule.message
    state.nextAttempt = delay
    switch failure.code {
    case .networkFailure, .networkUnavailable: state.phase = .offline
    default: state.phase = rule.handling == .workOffline ? .offline : .failed
    }
    let then = delay.map { "; tried again after \($0.components.seconds) s" } ?? "; queued"
    core.log(
      .failure, "A sync did not succeed: \(failure.code) (\(failure.code.rawValue))\(then).",
      &state)
    guard let delay else { return }
    state.retryTimer = Task { [clock, weak core] in
      guard (try? await clock.sleep(for: delay)) != nil else { return }
      core?.state.withLock { state in core?.ask(&state, isFresh: false) }
    }
  }

  /// How long to wait before the next attempt; `nil` when something has to happen first.
  private func delay(
    _ failure: CKError, _ handling: IdeaErrorRule.Handling, _ state: inout IdeaCore.State
  ) -> Duration? {
    switch handling {
    case .retry, .sendAgain, .resolve, .makeAnew:
      return state.plan.next(serverDelay: failure.retryAfterSeconds)
    case .waitAMinute:
      guard state.plan.next() != nil else { return nil }
      guard let seconds = failure.retryAfterSeconds, seconds.isFinite, seconds > 0 else {
        return Self.busyWait
      }
      return .seconds(min(seconds, 86_400))
    case .workOffline, .askForSpace, .holdBack:
      return nil
    }
  }

  private func restartSchedule(_ state: inout IdeaCore.State) {
    state.schedule?.cancel()
    guard state.bell != nil, core.isAutomatic else { return }
    let interval = timing.schedule
    state.schedule = Task { [clock, weak self] in
      guard (try? await clock.sleep(for: interval)) != nil else { return }
      self?.trigger(.scheduled)
    }
  }

  // MARK: Subscription

  /// Makes sure that the subscription is there, once a run.
  ///
  /// Ideas are safe without it: the schedule takes its place until the next start.
  private func subscribe() async {
    guard core.state.withLock({ !$0.hasSubscribed }) else { return }
    let subscription = CKQuerySubscription(
      recordType: IdeaRecord.recordType, predicate: NSPredicate(value: true),
      subscriptionID: Self.subscriptionID)
    subscription.zoneID = IdeaRecord.zoneID
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    do {
      try await container.privateCloudDatabase.save(subscription)
      core.state.withLock { $0.hasSubscribed = true }
    } catch {
      let code = (error as? CKError)?.code ?? .internalError
      core.state.withLock { state in
        core.log(.failure, "No pushes yet: the subscription was not made (\(code)).", &state)
      }
    }
  }
}
