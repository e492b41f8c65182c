import CloudProtocol

/// A write to the state store, which the driver performs.
package enum StoreWrite: Sendable {
  /// Append these state changes as one entry.
  case append([StateChange])
  /// Load the store, which has failed, and replace its contents by the whole state.
  case rewrite
}

/// The condition of the state store.
enum StoreCondition: Sendable {
  /// The last write succeeded.
  case working
  /// The last write failed; the state changed `missedCount` times since without a write.
  case failed(missedCount: Int)
}

/// The report of an account change to the app.
///
/// With a state store, the account change is stored before it is delivered: the app deletes the
/// data of the old account when it handles the change. If the store still had the earlier state,
/// an engine would continue with the old account's tokens after a restart, and the app would
/// receive neither that data again nor the account change.
enum AccountReport: Sendable {
  /// No account change is being reported.
  case none
  /// The account change is stored next; `attempts` attempts failed.
  case storing(attempts: Int, since: Moment)
  /// The driver writes the account change.
  case writing(attempts: Int, since: Moment)
  /// The store refused the account change, which is held back until the next attempt.
  case held(attempts: Int, until: Moment)
  /// The account change is stored and is delivered next.
  case stored
  /// The app is handling the account change.
  case delivered
}

/// Writing the state changes to the state store. See I3 and I13 in Docs/Evidence.
extension SyncMachine {
  /// Whether the state store refuses the account change that is to be reported next.
  ///
  /// Operations fail meanwhile.
  package var isHoldingAccountChange: Bool {
    if case .held = accountReport { true } else { false }
  }

  /// The state of the store after the write that the driver performs.
  package var stateAfterWrite: SyncState {
    guard case .writing(_, let since) = accountReport else { return state }
    return reportingAccount(now: since).state
  }

  /// The next write; the driver performs it and reports `stored()` or `storeFailed(now:)`.
  ///
  /// The driver repeats this until there is none, after each other call of the machine and before
  /// it calls the machine again. After a failure the whole state is written. While state changes
  /// follow, this is tried at once and then at increasing intervals, so that a full disk does not
  /// slow the engine down.
  package mutating func nextWrite() -> StoreWrite? {
    if !journal.isEmpty {
      let changes = journal
      journal = []
      guard case .failed(let missedCount) = store else { return .append(changes) }
      let count = missedCount + 1
      store = .failed(missedCount: count)
      if count.nonzeroBitCount == 1 || count.isMultiple(of: 64) { return .rewrite }
    }
    guard case .storing(let attempts, let since) = accountReport else { return nil }
    guard case .working = store else { return .rewrite }
    accountReport = .writing(attempts: attempts, since: since)
    return .append(reportingAccount(now: since).journal)
  }

  /// Reports that the write succeeded.
  package mutating func stored() {
    store = .working
    switch accountReport {
    case .writing(_, let since):
      beginReporting(now: since)
      journal = []  // Stored by this write.
      accountReport = .stored
    case .held(let attempts, let moment):
      accountReport = .storing(attempts: attempts, since: moment)
    case .none, .storing, .stored, .delivered: break
    }
  }

  /// Reports that a write failed.
  ///
  /// An account change that was to be stored is held back, and the operations that wait fail.
  package mutating func storeFailed(now: Moment) {
    if case .working = store { store = .failed(missedCount: 0) }
    switch accountReport {
    case .storing(let attempts, _), .writing(let attempts, _):
      let delay = Duration.seconds(1 << min(attempts + 1, 6))
      accountReport = .held(attempts: attempts + 1, until: now + delay)
      _ = refuseQueue(Self.storeRefusal)
      endCancellations()
    case .none, .held, .stored, .delivered: break
    }
  }

  /// The error of operations while an account change is held back.
  static var storeRefusal: CloudError {
    CloudError(
      .internalError, "The state store takes nothing; see the sync engine's stateStoreError.")
  }

  /// Advances the report of the account change that is the next event.
  ///
  /// - Returns: The moment until which it waits; `nil` when it can be delivered.
  mutating func storeAccountChange(now: Moment) -> Instruction? {
    guard configuration.keepsJournal else {
      beginReporting(now: now)
      return nil
    }
    switch accountReport {
    case .held(_, let until) where now < until: return .wait(until: until)
    case .held(let attempts, _), .storing(let attempts, _), .writing(let attempts, _):
      accountReport = .storing(attempts: attempts, since: now)
    case .none, .delivered: accountReport = .storing(attempts: 0, since: now)
    case .stored: return nil
    }
    return .wait(until: nil)  // The result of the write is the next input.
  }

  /// This machine after the state changes of the account report.
  private func reportingAccount(now: Moment) -> SyncMachine {
    var machine = self
    machine.journal = []
    machine.beginReporting(now: now)
    return machine
  }
}
