import CloudProtocol
import Records

/// Account checks and account changes.
///
/// After a signal, the running operation is closed first, with its did-events; then the server is
/// asked for the account; the account event precedes any data of the new account. See CE-89 to
/// CE-96 in Docs/Evidence/Engine.md.
extension SyncMachine {
  /// Reports that the signed-in account may have changed.
  package mutating func accountSignalled(now: Moment) {
    account.needsCheck = true
    // A wait requested for the old account does not apply to the new one.
    schedule.notBefore = nil
    schedule.accountDue = nil
    interrupt(
      CloudError(.operationCancelled, "The account may have changed; the operation was ended."),
      now: now)
  }

  func isAccountCheckDue(_ now: Moment) -> Bool {
    if account.needsCheck { return true }
    guard let due = schedule.gated(schedule.accountDue) else { return false }
    return due <= now
  }

  mutating func checkAccount() -> Advance {
    account.needsCheck = false
    schedule.accountDue = nil
    var request = outgoing(.fetchCurrentUser)
    request.expectedUser = nil
    enter(.checkingAccount(request.token))
    return .instruct(.send(request))
  }

  mutating func settleAccount(
    _ answer: Result<CloudReply, CloudError>, now: Moment
  ) {
    switch answer {
    case .success(.currentUser(let user)):
      schedule.accountFailures = 0
      schedule.noteSuccess(of: .account)
      history.note(.checkingAccount, nil, now)
      let wasKnown = account.knowledge == .signedIn(user)
      account.knowledge = .signedIn(user)
      enter(.resting)
      adopt(user, wasKnown: wasKnown, now: now)
    case .success:
      missAccount(Self.mismatch, now: now)
    case .failure(let error):
      missAccount(error, now: now)
    }
  }

  /// The error for a reply of an unexpected kind.
  static var mismatch: CloudError {
    CloudError(
      .internalError,
      "The server's response does not match the request; report this to its developers.")
  }

  private mutating func adopt(_ user: UserID, wasKnown: Bool, now: Moment) {
    // Nothing is due for the same account: otherwise a server that refuses every request except
    // this one would be polled without a pause.
    if configuration.automaticallySync, !wasKnown {
      schedule.fetchDue = now
      scheduleSend(at: now)
    }
    guard user != state.user || state.unannounced != nil else { return }
    if let last = lastUser(before: user), last != user {
      delivery.events.append(.accountChange(.switchAccounts(previous: last, current: user)))
    } else {
      delivery.events.append(.accountChange(.signIn(user)))
    }
  }

  /// The account whose data the app may hold, preferably other than `user`.
  private func lastUser(before user: UserID?) -> UserID? {
    state.user == user ? state.unannounced?.previous : state.user ?? state.unannounced?.previous
  }

  private mutating func missAccount(_ error: CloudError, now: Moment) {
    honor(error, now: now)
    history.note(.checkingAccount, error.code, now)
    switch error.code {
    case .notAuthenticated where error.accountObstacle == nil:
      account.knowledge = .unavailable(error)
      enter(.resting)
      guard let previous = lastUser(before: nil) else { return }
      delivery.events.append(.accountChange(.signOut(previous: previous)))
    default:
      // The account can't be used now, or the reply does not name one: everything is kept, and the
      // check is repeated.
      account.knowledge = .unknown(error)
      enter(.resting)
      schedule.accountFailures += 1
      schedule.note(.account, isOfNetwork: error.code.isOfNetwork)
      let delay = configuration.backoff.delay(
        afterFailures: schedule.accountFailures, jitter: requests.lastJitter)
      if configuration.automaticallySync { schedule.accountDue = now + delay }
    }
  }

  // MARK: Reporting to the app

  /// Removes the old account's state before the account change is delivered.
  ///
  /// The state records that the delivery is unconfirmed until the app has returned. After a crash
  /// in between, the app may still hold the old account's data, so the event is delivered again.
  mutating func beginReporting(now: Moment) {
    for change in accountStateChanges {
      record(change, now: now)
      if case .reset = change { resetSchedule() }
    }
  }

  /// The changes of the state that precede the delivery of the account change.
  var accountStateChanges: [StateChange] {
    guard case .accountChange(let change) = delivery.events.first else { return [] }
    return switch change {
    case .signIn(let user):
      // Changes added before the first sign-in belong to no other account: they are kept.
      [.announceUser(user, previous: nil)]
    case .signOut(let user): [.reset, .announceUser(nil, previous: user)]
    case .switchAccounts(let old, let new): [.reset, .announceUser(new, previous: old)]
    }
  }

  /// Confirms the account change after the app has returned from it.
  mutating func endReporting(now: Moment) {
    guard case .delivered = account.report else { return }
    account.report = .none
    record(.setUser(state.user), now: now)
    update.isUrgent = true
    guard configuration.automaticallySync, state.user != nil else { return }
    schedule.fetchDue = now
    scheduleSend(at: now)
  }

  private mutating func resetSchedule() {
    schedule.fetchDue = nil
    schedule.sendDue = nil
    schedule.fetchFailures = 0
    schedule.sendFailures = 0
    schedule.refusesSends = false
    schedule.hasFetched = false
  }
}
