import CloudProtocol

/// The schedule of automatic operations.
struct Schedule: Sendable {
  /// The moment of the next fetch.
  var fetchDue: Moment?
  /// The moment of the last push.
  var lastPush: Moment?
  /// The moment of the next send.
  var sendDue: Moment?
  /// The moment of the next account check.
  var accountDue: Moment?
  /// The operations that a network failure delayed.
  var networkWaits: NetworkWaits = []
  /// Whether the network returned after the latest request was sent, which may still fail.
  var hasNetworkReturned = false
  /// The operations that are repeated without back-off because the network returned while their
  /// request was under way.
  var repetitions: NetworkWaits = []
  /// The server asked for no request before this moment.
  var notBefore: Moment?
  /// The number of consecutive failed fetches.
  var fetchFailures = 0
  /// The number of consecutive successful fetches without a subscription.
  var subscriptionFailures = 0
  /// The number of consecutive failed sends.
  var sendFailures = 0
  /// Whether a fetch succeeded since the last send.
  var hasFetched = false
  /// Whether the server refused the last send as a whole, so that an added change waits for the
  /// back-off, too.
  var refusesSends = false
  /// The number of consecutive failed account checks.
  var accountFailures = 0

  /// Operations delayed by a network failure.
  struct NetworkWaits: OptionSet {
    let rawValue: UInt8

    static let fetch = NetworkWaits(rawValue: 1)
    static let send = NetworkWaits(rawValue: 2)
    static let account = NetworkWaits(rawValue: 4)
  }

  /// Records the failure of an operation, and whether the network is the reason.
  ///
  /// A request that failed although the network returned meanwhile is repeated once without
  /// back-off: the reason may be this request alone, such as a proxy that refuses a large body.
  mutating func note(_ wait: NetworkWaits, isOfNetwork: Bool) {
    if isOfNetwork { networkWaits.insert(wait) } else { networkWaits.remove(wait) }
    if repetitions.remove(wait) != nil { hasNetworkReturned = false }
  }

  /// Records the success of an operation.
  mutating func noteSuccess(of wait: NetworkWaits) {
    networkWaits.remove(wait)
    repetitions.remove(wait)
  }

  /// `due`, but not before the moment that the server asked for.
  func gated(_ due: Moment?) -> Moment? {
    guard let due else { return nil }
    return max(due, notBefore ?? due)
  }
}

extension SyncMachine {
  /// Whether there is a change to send.
  var hasChangesToSend: Bool {
    !state.records.isEmpty || !state.zones.isEmpty || state.hasUntrackedChanges
  }

  /// Schedules a send at `due`, unless an earlier one is scheduled or the server refuses sends.
  mutating func scheduleSend(at due: Moment) {
    guard configuration.automaticallySync, hasChangesToSend else { return }
    if schedule.refusesSends, schedule.sendDue != nil { return }
    schedule.sendDue = min(schedule.sendDue ?? due, due)
    // The fetch that is required before it waits for the network as well.
    guard state.needsFetch, schedule.networkWaits.contains(.fetch) else { return }
    schedule.fetchDue = schedule.fetchDue.map { min($0, due) }
  }

  /// Reports that the server may have changes, as after a push.
  package mutating func serverChanged(now: Moment) {
    guard configuration.automaticallySync else { return }
    // The first push is handled at once; those that follow closely are combined.
    let isClose = schedule.lastPush.map { now < $0 + configuration.fetchDelay } ?? false
    let due = isClose ? now + configuration.fetchDelay : now
    schedule.lastPush = now
    schedule.fetchDue = min(schedule.fetchDue ?? due, due)
  }

  /// Reports that the network returned: operations delayed only by its failure are due now.
  ///
  /// So is an operation whose latest request was sent before, if the network fails it. A wait that
  /// the server asked for remains, and so does the back-off after any other failure.
  package mutating func networkReturned(now: Moment) {
    let waits = schedule.networkWaits
    if waits.contains(.fetch) { schedule.fetchDue = schedule.fetchDue.map { min($0, now) } }
    if waits.contains(.send) { schedule.sendDue = schedule.sendDue.map { min($0, now) } }
    if waits.contains(.account) { schedule.accountDue = schedule.accountDue.map { min($0, now) } }
    schedule.networkWaits = []
    schedule.hasNetworkReturned = true
  }

  /// Delays all requests if the server asked for it.
  mutating func honor(_ error: CloudError, now: Moment) {
    guard let wait = error.wait else { return }
    let until = now + wait
    schedule.notBefore = max(schedule.notBefore ?? until, until)
  }

  /// Whether the server asked for no request at `now`.
  func isHeldBack(_ now: Moment) -> Bool { schedule.notBefore.map { $0 > now } ?? false }

  /// Chooses the next operation while none is running.
  mutating func chooseActivity(now: Moment) -> Advance {
    if !calls.cancelling.isEmpty {
      endCancellations()
      return .again
    }
    // The network returned while a request was under way, which failed nevertheless.
    if schedule.hasNetworkReturned, !schedule.networkWaits.isEmpty {
      schedule.repetitions.formUnion(schedule.networkWaits)
      networkReturned(now: now)
    }
    if let gate = schedule.notBefore, gate <= now { schedule.notBefore = nil }
    if isAccountCheckDue(now) {
      if let refusal = gateError(now) {
        if refuseQueue(refusal) { return .again }
        return .rest
      }
      return checkAccount()
    }
    if let error = accountError { return refuseQueue(error) ? .again : .rest }
    if !calls.queued.isEmpty {
      if let refusal = gateError(now), refuseQueue(refusal) { return .again }
      return beginQueued(now: now)
    }
    return chooseScheduled(now: now)
  }

  /// Ends the calls that wait for a cancellation.
  mutating func endCancellations() {
    guard !calls.cancelling.isEmpty else { return }
    calls.finished.append((calls.cancelling, .success))
    calls.cancelling = []
  }

  /// The error that prevents operations while there is no account.
  private var accountError: CloudError? {
    switch account.knowledge {
    case .signedIn: nil
    case .unavailable(let error): error
    case .unknown(let error):
      error ?? CloudError(.notAuthenticated, "No account is signed in; sign in and try again.")
    }
  }

  private mutating func chooseScheduled(now: Moment) -> Advance {
    guard configuration.automaticallySync else { return .rest }
    // Pushes that never stop do not keep changes from being sent.
    let isSendNext =
      schedule.hasFetched && !state.needsFetch && hasChangesToSend
      && schedule.gated(schedule.sendDue).map { $0 <= now } ?? false
    if let due = schedule.gated(schedule.fetchDue), due <= now, !isSendNext {
      begin(
        Fetch(
          context: FetchContext(reason: .scheduled, options: FetchOptions()), waiters: [],
          databaseCursor: state.databaseToken, relisting: neededRelisting))
      return .again
    }
    guard let due = schedule.gated(schedule.sendDue), due <= now else { return .rest }
    guard hasChangesToSend else {
      schedule.sendDue = nil
      return .again
    }
    if state.needsFetch, schedule.fetchDue == nil {
      // After a failed send: the server has changes that this device has not fetched.
      schedule.fetchDue = now
      return .again
    }
    if state.needsFetch { return .rest }
    begin(Send(context: SendContext(reason: .scheduled, scope: .all), waiters: []))
    return .again
  }

  private mutating func beginQueued(now: Moment) -> Advance {
    let operation = calls.queued.removeFirst()
    switch operation.kind {
    case .fetch(let context):
      begin(
        Fetch(
          context: context, waiters: operation.waiters, databaseCursor: state.databaseToken,
          relisting: neededRelisting))
    case .send(let context): begin(Send(context: context, waiters: operation.waiters))
    }
    return .again
  }

  /// No database token although zones are known: a relisting was interrupted.
  private var neededRelisting: Fetch.Relisting? {
    state.databaseToken == nil && !state.knownZones.isEmpty ? Fetch.Relisting() : nil
  }

  /// The error for a call made before the moment that the server asked for.
  func gateError(_ now: Moment) -> CloudError? {
    guard let gate = schedule.notBefore, gate > now else { return nil }
    let wait = gate - now
    let seconds =
      Double(wait.components.seconds) + Double(wait.components.attoseconds) / 1e18
    return CloudError(
      .requestRateLimited, "The server asked to wait before the next request; try again later.",
      retryAfter: seconds)
  }

  /// Ends all queued manual operations.
  ///
  /// - Returns: Whether there were any.
  mutating func refuseQueue(_ error: CloudError) -> Bool {
    guard !calls.queued.isEmpty else { return false }
    for operation in calls.queued {
      calls.finished.append((operation.waiters, .failure(OperationFailure(error))))
    }
    calls.queued = []
    return true
  }

  /// The moment at which the driver calls `next(now:)` again without an input.
  var deadline: Moment? {
    var deadlines = [update.since.map { $0 + configuration.updateDelay }, storeRetry]
    if case .resting = activity {
      deadlines.append(schedule.gated(schedule.accountDue))
      if account.needsCheck { deadlines.append(schedule.notBefore) }
      if case .signedIn = account.knowledge, configuration.automaticallySync {
        deadlines.append(schedule.gated(schedule.fetchDue))
        // While a fetch is required first, its moment applies.
        if !state.needsFetch || schedule.fetchDue == nil {
          deadlines.append(schedule.gated(schedule.sendDue))
        }
      }
    }
    return deadlines.compactMap { $0 }.min()
  }
}
