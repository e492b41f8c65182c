import CloudProtocol

/// When the machine means to do what by itself.
struct Schedule: Sendable {
  /// When to fetch.
  var fetchDue: Moment?
  /// When the last push was heard of.
  var lastPush: Moment?
  /// When to send.
  var sendDue: Moment?
  /// When to ask again who is signed in.
  var accountDue: Moment?
  /// Which of them a failure of the network put off.
  var networkWaits: NetworkWaits = []
  /// Before this the server wants no request.
  var notBefore: Moment?
  /// Fetches that failed in a row.
  var fetchFailures = 0
  /// Fetches in a row that went well but found no subscription.
  var subscriptionFailures = 0
  /// Sends that failed in a row.
  var sendFailures = 0
  /// Account checks that failed in a row.
  var accountFailures = 0

  /// Things that are put off because the network failed.
  struct NetworkWaits: OptionSet {
    let rawValue: UInt8

    static let fetch = NetworkWaits(rawValue: 1)
    static let send = NetworkWaits(rawValue: 2)
    static let account = NetworkWaits(rawValue: 4)
  }

  /// Notes whether a failure of the network is why `wait` is put off.
  mutating func note(_ wait: NetworkWaits, isOfNetwork: Bool) {
    if isOfNetwork { networkWaits.insert(wait) } else { networkWaits.remove(wait) }
  }

  /// A due moment, no earlier than the server allows.
  func gated(_ due: Moment?) -> Moment? {
    guard let due else { return nil }
    return max(due, notBefore ?? due)
  }
}

extension SyncMachine {
  /// Whether something would have to be sent.
  var hasChangesToSend: Bool {
    !state.records.isEmpty || !state.zones.isEmpty || state.hasUntrackedChanges
  }

  /// Means to send at `due`, or earlier if that was meant already.
  mutating func scheduleSend(at due: Moment) {
    guard configuration.automaticallySync, hasChangesToSend else { return }
    schedule.sendDue = min(schedule.sendDue ?? due, due)
  }

  /// A push or the app's surroundings say that the server has changes.
  package mutating func serverChanged(now: Moment) {
    guard configuration.automaticallySync else { return }
    // The first push after a while is news at once; those that follow it closely come together.
    let isClose = schedule.lastPush.map { now < $0 + configuration.fetchDelay } ?? false
    let due = isClose ? now + configuration.fetchDelay : now
    schedule.lastPush = now
    schedule.fetchDue = min(schedule.fetchDue ?? due, due)
  }

  /// The network is back: what only its failure put off is due now.
  ///
  /// A wait that the server asked for stays, and so does a back-off after any other failure.
  package mutating func networkReturned(now: Moment) {
    let waits = schedule.networkWaits
    if waits.contains(.fetch) { schedule.fetchDue = schedule.fetchDue.map { min($0, now) } }
    if waits.contains(.send) { schedule.sendDue = schedule.sendDue.map { min($0, now) } }
    if waits.contains(.account) { schedule.accountDue = schedule.accountDue.map { min($0, now) } }
    schedule.networkWaits = []
  }

  /// Holds all requests back when the server asked for it.
  mutating func honour(_ error: CloudError, now: Moment) {
    guard let seconds = error.retryAfter, seconds > 0, seconds.isFinite else { return }
    let until = now + .seconds(min(seconds, 7 * 86_400))
    schedule.notBefore = max(schedule.notBefore ?? until, until)
  }

  /// Whether the server wants no request now.
  func isHeldBack(_ now: Moment) -> Bool { schedule.notBefore.map { $0 > now } ?? false }

  /// Decides what to do while nothing is under way.
  mutating func chooseActivity(now: Moment) -> Advance {
    if !cancelWaiters.isEmpty {
      finished.append((cancelWaiters, .success))
      cancelWaiters = []
      return .again
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
    if !queue.isEmpty {
      if let refusal = gateError(now), refuseQueue(refusal) { return .again }
      return beginQueued(now: now)
    }
    return chooseScheduled(now: now)
  }

  /// Why no operation can begin, when it is for want of an account.
  private var accountError: CloudError? {
    switch account {
    case .signedIn: nil
    case .unavailable(let error): error
    case .unknown(let error):
      error ?? CloudError(.notAuthenticated, "Nobody is signed in; sign in and try again.")
    }
  }

  private mutating func chooseScheduled(now: Moment) -> Advance {
    guard configuration.automaticallySync else { return .rest }
    if let due = schedule.gated(schedule.fetchDue), due <= now {
      begin(
        Fetch(
          context: FetchContext(reason: .scheduled, options: FetchOptions()), waiters: [],
          databaseCursor: state.databaseToken, isRelisting: isRelistingNeeded))
      return .again
    }
    guard let due = schedule.gated(schedule.sendDue), due <= now else { return .rest }
    guard hasChangesToSend else {
      schedule.sendDue = nil
      return .again
    }
    if state.needsFetch, schedule.fetchDue == nil {
      // A failed send: the server knows something we don't.
      schedule.fetchDue = now
      return .again
    }
    if state.needsFetch { return .rest }
    begin(Send(context: SendContext(reason: .scheduled, scope: .all), waiters: []))
    return .again
  }

  private mutating func beginQueued(now: Moment) -> Advance {
    switch queue.removeFirst() {
    case .fetch(let context, let waiters):
      begin(
        Fetch(
          context: context, waiters: waiters, databaseCursor: state.databaseToken,
          isRelisting: isRelistingNeeded))
    case .send(let context, let waiters):
      begin(Send(context: context, waiters: waiters))
    }
    return .again
  }

  /// Without a database token although zones are known: a relisting that was cut off.
  private var isRelistingNeeded: Bool {
    state.databaseToken == nil && !state.knownZones.isEmpty
  }

  /// The error for a request made before the server allows it.
  private func gateError(_ now: Moment) -> CloudError? {
    guard let gate = schedule.notBefore, gate > now else { return nil }
    let wait = gate - now
    let seconds =
      Double(wait.components.seconds) + Double(wait.components.attoseconds) / 1e18
    return CloudError(
      .requestRateLimited, "The server asked for no request yet; wait and try again.",
      retryAfter: seconds)
  }

  /// Ends all manual operations that wait for their turn; answers whether there were any.
  mutating func refuseQueue(_ error: CloudError) -> Bool {
    guard !queue.isEmpty else { return false }
    for operation in queue {
      switch operation {
      case .fetch(_, let waiters), .send(_, let waiters):
        finished.append((waiters, .failure(OperationFailure(error))))
      }
    }
    queue = []
    return true
  }

  /// When the driver has to ask again if nothing is said before.
  var deadline: Moment? {
    var deadlines: [Moment?] = [unannouncedSince.map { $0 + configuration.updateDelay }]
    if case .resting = activity {
      deadlines.append(schedule.gated(schedule.accountDue))
      if needsAccountCheck { deadlines.append(schedule.notBefore) }
      if case .signedIn = account, configuration.automaticallySync {
        deadlines.append(schedule.gated(schedule.fetchDue))
        // While a fetch must come first, its own moment counts.
        if !state.needsFetch || schedule.fetchDue == nil {
          deadlines.append(schedule.gated(schedule.sendDue))
        }
      }
    }
    return deadlines.compactMap { $0 }.min()
  }
}
