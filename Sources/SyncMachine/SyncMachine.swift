package import CloudProtocol
package import Records

/// The sync engine as a state machine: inputs report what happened, `next(now:)` returns what to
/// do.
///
/// The machine has no clock, random numbers, I/O or tasks; the driver supplies them. It is a value
/// and not reentrant: the driver guards it with a lock and calls one method at a time.
///
/// ## Protocol of use
///
/// 1. Create the machine with a configuration and the last stored state, and call `start(now:)`
///   once. Before `start(now:)`, `next(now:)` starts no operation.
/// 2. Call `next(now:)` and carry out the instruction; repeat until it is `wait`. After `wait`,
///   call it again at the given moment and after every input.
/// 3. Report inputs at any time and in any order: pending changes (`add`, `remove`,
///   `setHasUntrackedChanges`), operations (`fetch`, `send`, `cancelOperations`) and signals
///   (`accountSignalled`, `serverChanged`, `networkReturned`).
/// 4. Call `stop()` at the end and resume the waiters that it returns. From then on, `next(now:)`
///   returns only `wait`.
///
/// Each instruction obliges the driver to one action:
///
/// | instruction | the driver |
/// |---|---|
/// | `deliver` | passes the event to the app and calls `delivered()` when the app has returned |
/// | `askForBatch` | asks the app and calls `provided(batch:shown:now:)` with its answer |
/// | `askForFetchOptions` | asks the app and calls `provided(options:)` with its answer |
/// | `send` | starts the request and calls `received(_:for:now:jitter:)` with the reply or error |
/// | `abandon` | may cancel that request; a late reply is ignored |
/// | `finish` | resumes the waiters with the outcome |
/// | `wait` | does nothing until the given moment or the next input |
///
/// At most one `deliver` or `ask` instruction is outstanding, so events are serial by construction.
/// A request may be outstanding at the same time as an event.
///
/// With `hasStateStore`, the driver also owns a state store. After each call of the machine, and
/// before it carries out an instruction, it performs the writes of `nextWrite()` one by one and
/// reports `stored(_:)` or `storeFailed(now:)` for each. The machine decides when a snapshot
/// replaces the log and when a refused write is retried, and delivers an account change only when
/// it is stored. A result of a write is an input: after `wait`, the driver calls `next(now:)`
/// again. See CE-12, CE-13, CE-84 and CE-86 in Docs/Evidence/Engine.md, and I3 and I13 in
/// Docs/Evidence/Reliability.md.
package struct SyncMachine: Sendable {
  /// The settings of a machine.
  package struct Configuration: Hashable, Sendable {
    /// Whether the machine schedules operations without calls of the app.
    package var automaticallySync: Bool
    /// The subscription to use; `nil` uses any existing database subscription.
    package var subscription: SubscriptionID?
    /// Identifies this run of the engine in request IDs; unique on the device.
    package var session: String
    /// The delay before an automatic send, so that changes added together are sent together.
    package var sendDelay: Duration
    /// The delay before the fetch for a push that follows another within the same time.
    package var fetchDelay: Duration
    /// The delay before a state update, so that one update covers several changes.
    package var updateDelay: Duration
    /// The back-off of retries.
    package var backoff: Backoff
    /// Whether state changes are kept for a state store.
    package var hasStateStore: Bool
    /// Whether transitions are kept for `takeTransitions()`.
    package var keepsTransitions: Bool
    /// The number of pending changes up to which the app is always shown all of them.
    package var leastShown: Int

    /// Creates settings with CloudKit's behavior.
    ///
    /// - Parameter session: A text that no other run on the same device uses.
    package init(session: String, automaticallySync: Bool = true) {
      self.session = session
      self.automaticallySync = automaticallySync
      sendDelay = .milliseconds(100)
      fetchDelay = .milliseconds(100)
      updateDelay = .milliseconds(50)
      backoff = Backoff()
      hasStateStore = false
      keepsTransitions = false
      leastShown = .max
    }
  }

  /// The settings.
  package let configuration: Configuration
  /// The state to store between runs.
  package internal(set) var state: SyncState
  /// The transitions since they were last taken, for traces and checkers.
  package private(set) var transitions: [Transition] = []

  /// The running operation, with all that belongs to it.
  var activity: Activity = .created
  /// The signed-in account, which outlives operations.
  var account = AccountState()
  /// The manual operations that wait for another one, for a cancellation or for the driver.
  var calls = ManualCalls()
  /// The events for the app; an operation can end before its last events are delivered.
  var delivery = EventDelivery()
  /// The requests to the server, beyond the one that the activity awaits.
  var requests = RequestHistory()
  /// The state store.
  var store: StoreState
  /// The next state update for the app.
  var update = PendingUpdate()
  /// The moments of the next automatic operations.
  var schedule = Schedule()
  /// The results of past operations, for the status.
  var history = OperationHistory()
  /// The maximum number of pending changes that the app is shown for the next batch.
  package internal(set) var shownLimit: ShownLimit
  /// Counts the app's reports of untracked changes, so that one made during a question for a batch
  /// is not lost.
  var untrackedVersion: UInt64 = 0

  /// Creates a machine that continues from `state`.
  ///
  /// Changes that were in flight when the state was stored are pending again: their outcome is
  /// unknown, and no request of this machine contains them.
  ///
  /// - Parameter stored: The sizes of what the state store contains.
  package init(
    configuration: Configuration, state: SyncState = SyncState(), stored: StoreSize = StoreSize()
  ) {
    self.configuration = configuration
    self.state = state
    store = StoreState(size: stored)
    shownLimit = ShownLimit(least: configuration.leastShown)
    self.state.makeIndexes()
    returnUnsettled()
  }

  /// The current state of the machine, without its data.
  package var stage: Stage {
    switch activity {
    case .created: .created
    case .resting:
      switch account.knowledge {
      case .signedIn: .idle
      case .unknown, .unavailable: .dormant
      }
    case .checkingAccount: .checkingAccount
    case .fetching(let fetch): fetch.stage
    case .sending(let send): send.stage
    case .stopped: .stopped
    }
  }

  /// Starts the machine: it determines the signed-in account, and in automatic mode fetches and
  /// sends.
  ///
  /// Further calls have no effect.
  package mutating func start(now: Moment) {
    guard case .created = activity else { return }
    enter(.resting)
    account.needsCheck = true
    if configuration.automaticallySync {
      schedule.fetchDue = now
      scheduleSend(at: now)
    }
  }

  /// Stops the machine.
  ///
  /// Afterwards `next(now:)` returns only `wait`.
  ///
  /// - Returns: The waiters of all operations; the driver resumes them.
  package mutating func stop() -> [Waiter] {
    var waiters = calls.cancelling
    switch activity {
    case .fetching(let fetch): waiters += fetch.waiters
    case .sending(let send): waiters += send.waiters
    case .created, .resting, .checkingAccount, .stopped: break
    }
    waiters += calls.queued.flatMap(\.waiters) + calls.finished.flatMap(\.waiters)
    calls.queued = []
    calls.finished = []
    calls.cancelling = []
    delivery.events = []
    if case .stopped = activity { return waiters }
    enter(.stopped)
    return waiters
  }

  /// The next instruction for the driver.
  ///
  /// Call it again after carrying the instruction out, and after every input.
  package mutating func next(now: Moment) -> Instruction {
    retryStore(now: now)
    while true {
      if case .stopped = activity { return .wait(until: nil) }
      if !requests.abandoned.isEmpty { return .abandon(requests.abandoned.removeFirst()) }
      if delivery.isWithApp { return .wait(until: nil) }
      endReporting(now: now)
      if case .held = account.report, let end = takeFinished() { return end }
      if case .accountChange = delivery.events.first {
        if let wait = storeAccountChange(now: now) { return wait }
        account.report = .delivered
      }
      if let request = requestForNextPage() { return .send(request) }
      if !delivery.events.isEmpty {
        delivery.isWithApp = true
        return .deliver(delivery.events.removeFirst())
      }
      if isUpdateDue(now) {
        delivery.isWithApp = true
        update.since = nil
        update.isUrgent = false
        return .deliver(.stateUpdate)
      }
      if let end = takeFinished() { return end }
      switch advance(now: now) {
      case .instruct(let instruction): return instruction
      case .again: continue
      case .rest:
        // An operation that left nothing to report does not end the delay of the next change.
        if update.since == nil { update.isUrgent = false }
        return .wait(until: deadline)
      }
    }
  }

  private mutating func takeFinished() -> Instruction? {
    guard !calls.finished.isEmpty else { return nil }
    let end = calls.finished.removeFirst()
    return .finish(end.waiters, end.outcome)
  }

  /// The result of advancing the activity by one step.
  enum Advance {
    /// The driver has an instruction to carry out.
    case instruct(Instruction)
    /// The activity changed: advance again.
    case again
    /// Nothing changes until the next input or deadline.
    case rest
  }

  private mutating func advance(now: Moment) -> Advance {
    switch activity {
    case .created, .checkingAccount, .stopped: .rest
    case .resting: chooseActivity(now: now)
    case .fetching(let fetch): advance(fetch, now: now)
    case .sending(let send): advance(send, now: now)
    }
  }

  /// Reports that the app has returned from the delivered event.
  package mutating func delivered() { delivery.isWithApp = false }

  /// Reports the reply to a request, or its error.
  ///
  /// The reply to an abandoned request is ignored.
  /// - Parameter jitter: A random number in 0..<1, for a back-off that this reply may start.
  package mutating func received(
    _ answer: Result<CloudReply, CloudError>, for token: RequestToken, now: Moment, jitter: Double
  ) {
    requests.lastJitter = jitter
    switch activity {
    case .checkingAccount(let awaited) where awaited == token:
      settleAccount(answer, now: now)
    case .fetching(let fetch) where fetch.openRequests.contains(token):
      receive(answer, for: token, in: fetch, now: now)
    case .sending(let send) where send.awaited == token:
      settle(send, answer, now: now)
    case .created, .resting, .checkingAccount, .fetching, .sending, .stopped:
      break  // Late: the operation it belonged to is over.
    }
  }

  // MARK: State changes

  /// Changes the activity; the transition table must contain the transition.
  mutating func enter(_ next: Activity) {
    let before = stage
    activity = next
    let after = stage
    guard before != after else { return }
    let transition = Transition(from: before, to: after)
    assert(transition.isLegal, "no such transition: \(before) to \(after)")
    if configuration.keepsTransitions { transitions.append(transition) }
  }

  /// Enters a step of a fetch.
  mutating func enter(_ step: Fetch.Step, in fetch: inout Fetch) {
    fetch.step = step
    enter(.fetching(fetch))
  }

  /// Enters a step of a send.
  mutating func enter(_ step: Send.Step, in send: inout Send) {
    send.step = step
    enter(.sending(send))
  }

  /// Applies one change to the stored state.
  mutating func record(_ change: StateChange, now: Moment) {
    state.apply(change)
    note(change, now: now)
  }

  /// Records a change that has already been applied to the state.
  mutating func note(_ change: @autoclosure () -> StateChange, now: Moment) {
    if configuration.hasStateStore { store.unwritten.append(change()) }
    if update.since == nil { update.since = now }
  }

  /// The transitions since the last call; empty unless `keepsTransitions` is set.
  package mutating func takeTransitions() -> [Transition] {
    guard !transitions.isEmpty else { return [] }
    defer { transitions = [] }
    return transitions
  }

  /// A request for the driver, with a new token and request ID.
  mutating func outgoing(_ request: CloudRequest) -> OutgoingRequest {
    requests.lastToken += 1
    schedule.hasNetworkReturned = false
    return OutgoingRequest(
      token: RequestToken(number: requests.lastToken),
      requestID: "\(configuration.session)-\(requests.lastToken)",
      expectedUser: state.user, request: request)
  }

  /// Sends a request of a fetch and enters the step that awaits its reply.
  mutating func request(
    _ request: CloudRequest, in fetch: inout Fetch, awaitedIn step: (RequestToken) -> Fetch.Step
  ) -> Advance {
    let request = outgoing(request)
    enter(step(request.token), in: &fetch)
    return .instruct(.send(request))
  }

  /// Sends a request of a send and enters the step that awaits its reply.
  mutating func request(
    _ request: CloudRequest, in send: inout Send, awaitedIn step: (RequestToken) -> Send.Step
  ) -> Advance {
    let request = outgoing(request)
    enter(step(request.token), in: &send)
    return .instruct(.send(request))
  }

  private func isUpdateDue(_ now: Moment) -> Bool {
    guard let since = update.since else { return false }
    return update.isUrgent || since + configuration.updateDelay <= now
  }
}
