import CloudProtocol

/// A write to the state store, which the driver performs.
package enum StoreWrite: Sendable {
  /// Append these state changes as one entry.
  case append([StateChange])
  /// Replace the store's contents by `stateAfterWrite`.
  case replace
  /// Load the store, which has failed, and replace its contents by `stateAfterWrite`.
  case rewrite
}

/// The sizes of what a state store contains, in bytes.
package struct StoreSize: Hashable, Sendable {
  /// The size of the snapshot.
  package var snapshot: Int
  /// The total size of the entries appended since.
  package var log: Int

  /// Creates sizes.
  package init(snapshot: Int = 0, log: Int = 0) {
    self.snapshot = snapshot
    self.log = log
  }

  /// Whether the log is so large that a new snapshot replaces it.
  var isLogFull: Bool { log > max(256 * 1024, 2 * snapshot) }
}

/// The state store as the machine knows it.
struct StoreState: Sendable {
  /// The state changes that no write contains yet.
  var unwritten: [StateChange] = []
  /// Whether the last write succeeded.
  var condition: StoreCondition = .working
  /// The sizes after the last write.
  var size: StoreSize
}

/// The condition of the state store.
enum StoreCondition: Sendable {
  /// The last write succeeded.
  case working
  /// The last write failed.
  case failed(StoreFailure)
}

/// A state store that refuses writes.
struct StoreFailure: Sendable {
  /// The number of times that the state changed since without a write.
  var missedCount = 0
  /// The number of retries without a change of the state.
  var retries = 0
  /// The moment of the next of them; `nil` when it is due.
  var retry: Moment?
}

/// Writing the state changes to the state store. See I3 and I13 in Docs/Evidence.
extension SyncMachine {
  /// Whether the state store refuses the account change that is to be reported next.
  ///
  /// Operations fail meanwhile.
  package var isHoldingAccountChange: Bool {
    if case .held = account.report { true } else { false }
  }

  /// The moment at which a state that the store refused is written again.
  var storeRetry: Moment? {
    if case .failed(let failure) = store.condition { failure.retry } else { nil }
  }

  /// The state of the store after the write that the driver performs.
  package var stateAfterWrite: SyncState {
    guard case .writing = account.report else { return state }
    return accountStateChanges.reduce(into: state) { $0.apply($1) }
  }

  /// The next write; the driver performs it and reports `stored(_:)` or `storeFailed(now:)`.
  ///
  /// The driver repeats this until there is none, after each other call of the machine and before
  /// it calls the machine again. A log that has grown too large is replaced by a snapshot. After a
  /// failure the whole state is written. While state changes follow, this is tried at once and then
  /// at increasing intervals, so that a full disk does not slow the engine down; without changes it
  /// is tried again after a time that doubles up to a minute.
  package mutating func nextWrite() -> StoreWrite? {
    if case .failed(let failure) = store.condition, failure.retry == nil {
      store.unwritten = []
      return .rewrite
    }
    if !store.unwritten.isEmpty {
      let changes = store.unwritten
      store.unwritten = []
      guard case .failed(var failure) = store.condition else { return write(changes) }
      failure.missedCount += 1
      store.condition = .failed(failure)
      if failure.missedCount.nonzeroBitCount == 1 { return .rewrite }
    }
    guard case .storing(let attempts, let since) = account.report else { return nil }
    guard case .working = store.condition else { return .rewrite }
    account.report = .writing(attempts: attempts, since: since)
    return write(accountStateChanges)
  }

  private func write(_ changes: [StateChange]) -> StoreWrite {
    store.size.isLogFull ? .replace : .append(changes)
  }

  /// Reports that the write succeeded, and the sizes of what the store contains now.
  package mutating func stored(_ size: StoreSize) {
    store.condition = .working
    store.size = size
    switch account.report {
    case .writing(_, let since):
      beginReporting(now: since)
      store.unwritten = []  // Stored by this write.
      account.report = .stored
    case .held(let attempts, _):
      // Due at once, but stored by `next(now:)`: the app may add changes until the event is next.
      account.report = .held(attempts: attempts, until: .start)
    case .none, .storing, .stored, .delivered: break
    }
  }

  /// Reports that a write failed.
  ///
  /// An account change that was to be stored is held back, and the operations that wait fail.
  package mutating func storeFailed(now: Moment) {
    var failure = StoreFailure()
    if case .failed(let earlier) = store.condition { failure = earlier }
    if failure.retry == nil {
      failure.retry = now + .seconds(min(60, 1 << min(failure.retries, 6)))
      failure.retries += 1
    }
    store.condition = .failed(failure)
    switch account.report {
    case .storing(let attempts, _), .writing(let attempts, _):
      let delay = Duration.seconds(1 << min(attempts + 1, 6))
      account.report = .held(attempts: attempts + 1, until: now + delay)
      _ = refuseQueue(Self.storeRefusal)
      endCancellations()
    case .none, .held, .stored, .delivered: break
    }
  }

  /// Makes the next write due if its time has come.
  mutating func retryStore(now: Moment) {
    guard case .failed(var failure) = store.condition, let retry = failure.retry, now >= retry
    else { return }
    failure.retry = nil
    store.condition = .failed(failure)
  }

  /// The error of operations while an account change is held back.
  static var storeRefusal: CloudError {
    CloudError(
      .internalError, "The state store rejected a write; see the sync engine's stateStoreError.")
  }

  /// Advances the report of the account change that is the next event.
  ///
  /// - Returns: The moment until which it waits; `nil` when it can be delivered.
  mutating func storeAccountChange(now: Moment) -> Instruction? {
    guard configuration.hasStateStore else {
      beginReporting(now: now)
      return nil
    }
    switch account.report {
    case .held(_, let until) where now < until: return .wait(until: until)
    case .held(let attempts, _), .storing(let attempts, _), .writing(let attempts, _):
      account.report = .storing(attempts: attempts, since: now)
    case .none, .delivered: account.report = .storing(attempts: 0, since: now)
    case .stored: return nil
    }
    return .wait(until: nil)  // The result of the write is the next input.
  }
}
