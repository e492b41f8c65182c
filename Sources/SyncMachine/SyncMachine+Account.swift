import CloudProtocol
import Records

/// Accounts: who is signed in, and what becomes of everything when that changes.
///
/// Source: cksyncengine 2.9. What is under way for the old account is closed first, with its
/// did-events; then the account is asked for; the account event precedes any data of the new one.
extension SyncMachine {
  /// The device says that somebody else, or nobody, may be signed in now.
  package mutating func accountSignalled(now: Moment) {
    needsAccountCheck = true
    // Whatever the old account's server asked for does not bind the new one.
    schedule.notBefore = nil
    schedule.accountDue = nil
    interrupt(
      CloudError(.operationCancelled, "The account may have changed; the operation was ended."),
      now: now)
  }

  func isAccountCheckDue(_ now: Moment) -> Bool {
    if needsAccountCheck { return true }
    guard let due = schedule.gated(schedule.accountDue) else { return false }
    return due <= now
  }

  mutating func checkAccount() -> Advance {
    needsAccountCheck = false
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
      history.note(.checkingAccount, nil, now)
      let wasKnown = account == .signedIn(user)
      account = .signedIn(user)
      enter(.resting)
      adopt(user, wasKnown: wasKnown, now: now)
    case .success:
      missAccount(Self.mismatch, now: now)
    case .failure(let error):
      missAccount(error, now: now)
    }
  }

  /// The error for an answer that answers another question.
  static var mismatch: CloudError {
    CloudError(
      .internalError, "The server's answer does not fit the request; report this to its makers.")
  }

  private mutating func adopt(_ user: UserID, wasKnown: Bool, now: Moment) {
    // The same account again is no reason to hurry: a server that refuses everything but this
    // question would be asked without a pause.
    if configuration.automaticallySync, !wasKnown {
      schedule.fetchDue = now
      scheduleSend(at: now)
    }
    guard user != state.user || state.unannounced != nil else { return }
    if let last = lastUser(before: user), last != user {
      outbox.append(.accountChange(.switchAccounts(previous: last, current: user)))
    } else {
      outbox.append(.accountChange(.signIn(user)))
    }
  }

  /// The account the app may hold data of, other than `user` when there is a choice.
  private func lastUser(before user: UserID?) -> UserID? {
    state.user == user ? state.unannounced?.previous : state.user ?? state.unannounced?.previous
  }

  private mutating func missAccount(_ error: CloudError, now: Moment) {
    honour(error, now: now)
    history.note(.checkingAccount, error.code, now)
    switch error.code {
    case .notAuthenticated, .managedAccountRestricted:
      account = .unavailable(error)
      enter(.resting)
      guard error.code == .notAuthenticated, let previous = lastUser(before: nil) else { return }
      outbox.append(.accountChange(.signOut(previous: previous)))
    default:
      // Not known: neither good nor bad; keep everything and ask again.
      account = .unknown(error)
      enter(.resting)
      schedule.accountFailures += 1
      schedule.note(.account, isOfNetwork: error.code.isOfNetwork)
      let delay = configuration.backoff.delay(
        afterFailures: schedule.accountFailures, jitter: lastJitter)
      if configuration.automaticallySync { schedule.accountDue = now + delay }
    }
  }

  // MARK: Telling the app

  /// Whether the next thing that the app hears is who is signed in.
  package var isAboutToTellOfAccount: Bool {
    guard !isWithApp, abandoned.isEmpty, case .accountChange = outbox.first else { return false }
    return true
  }

  /// Takes back the operations that have not begun, for a driver that has told those who wait.
  package mutating func withdrawQueue() { queue = [] }

  /// The app is about to be told: what belonged to the old account goes first.
  ///
  /// Until the app has returned the state says so, for after a crash in between nobody knows
  /// whether the app still holds the old account's data: it is told again.
  mutating func beginTelling(_ change: AccountChange, now: Moment) {
    let current: UserID?
    let previous: UserID?
    switch change {
    case .signIn(let user):
      // Changes added before anybody was known belong to nobody else: they stay.
      (current, previous) = (user, nil)
    case .signOut(let user): (current, previous) = (nil, user)
    case .switchAccounts(let old, let new): (current, previous) = (new, old)
    }
    if previous != nil { reset(now: now) }
    record(.announceUser(current, previous: previous), now: now)
    isTellingOfAccount = true
  }

  /// The app has been told of an account: the state is that account's for good.
  mutating func endTelling(now: Moment) {
    guard isTellingOfAccount else { return }
    isTellingOfAccount = false
    record(.setUser(state.user), now: now)
    isUpdateUrgent = true
    guard configuration.automaticallySync, state.user != nil else { return }
    schedule.fetchDue = now
    scheduleSend(at: now)
  }

  private mutating func reset(now: Moment) {
    let kept = plantedBugs.contains(.keepPendingAfterSwitch) ? state.records.waiting : []
    record(.reset, now: now)
    for change in kept { record(.addRecord(change), now: now) }
    schedule.fetchDue = nil
    schedule.sendDue = nil
    schedule.fetchFailures = 0
    schedule.sendFailures = 0
  }
}
