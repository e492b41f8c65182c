import Foundation
import SyncSupport
import Synchronization

/// One pass of sync: the account, the fetch, the sends, and the time of the next attempt.
extension IdeaStore {
  /// The most times that a pass begins, because the account may change during it.
  private static let mostBeginnings = 4

  func pass() async {
    guard var wants = state.withLock({ $0.begin() }) else { return }
    var failure: CKError?
    for _ in 0..<Self.mostBeginnings {
      failure = nil
      do {
        try await syncOnce(wants)
      } catch is AccountChanged {
        // A caller that waits gets the ideas of the new account.
        failure = CKError(.operationCancelled)
        wants.fetches = true
        // The names may be another account's. A comparison of all names finds what was deleted.
        wants.names = []
        wants.sweeps = true
        if loop.isRunning { continue }
      } catch {
        failure = (error as? CKError) ?? CKError(.internalError)
      }
      break
    }
    state.withLock { state in
      state.end(failure, wants)
      setTimer(state)
      state.tell()
    }
  }

  private func syncOnce(_ wants: IdeaState.Wants) async throws {
    let generation = try await verifyAccount()
    if wants.fetches {
      if isAutomatic { await subscribe() }
      try await fetch(wants, generation)
    }
    try await send(generation)
  }

  /// Lets the next pass begin by itself: for the retry, or when the schedule says.
  private func setTimer(_ state: IdeaState) {
    guard isAutomatic else { return }
    if let retry = state.activity.nextAttempt, state.isBusy || retry < timing.schedule {
      loop.setTimer(after: retry) { [weak self] in
        self?.state.withLock { state in
          state.activity.nextAttempt = nil
          state.ask(isFresh: false)
        }
      }
    } else {
      loop.setTimer(after: timing.schedule) { [weak self] in self?.trigger(.scheduled) }
    }
  }

  // MARK: Subscription

  /// Makes sure that the subscription is there, once a run.
  ///
  /// Ideas are safe without it: the schedule takes its place until the next start.
  private func subscribe() async {
    guard !state.withLock(\.hasSubscribed) else { return }
    let subscription = CKQuerySubscription(
      recordType: IdeaRecord.recordType, predicate: NSPredicate(value: true),
      subscriptionID: Self.subscriptionID)
    subscription.zoneID = IdeaRecord.zoneID
    subscription.notificationInfo = .silent
    do {
      try await container.privateCloudDatabase.save(subscription)
      state.withLock { $0.hasSubscribed = true }
    } catch {
      let code = (error as? CKError)?.code ?? .internalError
      state.withLock {
        $0.note(.failure, "No pushes yet: the subscription was not made (\(code)).")
      }
    }
  }
}

extension IdeaState {
  /// How long a busy zone is left alone when it does not say itself.
  private static let busyWait = Duration.seconds(60)

  /// Whether the server gets no request before the next attempt, unless the user asks for it.
  fileprivate var isBusy: Bool {
    guard let code = activity.code, activity.nextAttempt != nil else { return false }
    return IdeaErrorRule.rule(for: code).handling == .waitAMinute
  }

  /// Begins a pass with everything that was asked for; `nil` if there is nothing to do.
  fileprivate mutating func begin() -> Wants? {
    guard loop.isRunning, wants.isAsked, !isBusy || wants.isByHand else { return nil }
    var begun = wants
    // Without a fetch the version that a change would replace is unknown.
    begun.fetches = begun.fetches || settings.highWater == nil
    wants = Wants()
    loop.setTimer(after: nil)
    activity.nextAttempt = nil
    if begun.isFresh { plan.reset() }
    if begun.isByHand {
      activity.isStorageFull = false
      refused = [:]
    }
    activity.phase = .syncing
    tell()
    return begun
  }

  /// Ends a pass: notes how it ended, and when to try again.
  fileprivate mutating func end(_ failure: CKError?, _ wants: Wants) {
    if let failure {
      settle(failure, wants)
    } else {
      plan.reset()
      activity.phase = .synced
      activity.code = nil
      activity.message = nil
      settings.lastSync = now().roundedToMilliseconds
    }
    flush()
  }

  private mutating func settle(_ failure: CKError, _ wants: Wants) {
    // The next pass repeats the tasks of this one.
    self.wants.fetches = self.wants.fetches || wants.fetches
    self.wants.sweeps = self.wants.sweeps || wants.sweeps
    self.wants.names.formUnion(wants.names)
    guard loop.isRunning else {
      activity.phase = .waiting
      return
    }
    let rule = IdeaErrorRule.rule(for: failure.code)
    let delay = isAutomatic ? delay(failure, rule.handling) : nil
    activity.code = failure.code
    activity.message = rule.message
    activity.nextAttempt = delay
    switch failure.code {
    case .networkFailure, .networkUnavailable: activity.phase = .offline
    default: activity.phase = rule.handling == .workOffline ? .offline : .failed
    }
    let then = delay.map { "; tried again after \($0.components.seconds) s" } ?? "; queued"
    note(
      .failure, "A sync did not succeed: \(failure.code) (\(failure.code.rawValue))\(then).")
  }

  /// How long to wait before the next attempt; `nil` when something has to happen first.
  private mutating func delay(
    _ failure: CKError, _ handling: IdeaErrorRule.Handling
  ) -> Duration? {
    switch handling {
    case .retry, .sendAgain, .resolve, .makeAnew:
      return plan.next(serverDelay: failure.retryAfterSeconds)
    case .waitAMinute:
      guard plan.next() != nil else { return nil }
      guard let seconds = failure.retryAfterSeconds, seconds.isFinite, seconds > 0 else {
        return Self.busyWait
      }
      return .seconds(min(seconds, 86_400))
    case .workOffline, .askForSpace, .holdBack: return nil
    }
  }
}
