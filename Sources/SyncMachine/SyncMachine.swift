package import CloudProtocol
package import Records

/// The client's decisions: a value that is told what happened and says what to do.
///
/// It reads no clock, draws no random number, does no I/O and knows no task. A driver asks
/// `next(now:)` for one instruction at a time, carries it out, and tells the machine of every
/// answer, signal and call; a simulator does the same in a loop. At most one thing is with the app
/// at a time, so events are serial by construction. Source: cksyncengine section 2.
package struct SyncMachine: Sendable {
  /// What does not change while a machine lives.
  package struct Configuration: Hashable, Sendable {
    /// Whether the machine schedules operations of its own.
    package var automaticallySync: Bool
    /// The subscription to use instead of any the database has.
    package var subscription: SubscriptionID?
    /// Tells this run's requests from those of any other run of the device.
    package var session: String
    /// How long added changes wait for company before a send.
    package var sendDelay: Duration
    /// How long a push waits for company that comes within this time of another.
    package var fetchDelay: Duration
    /// How long state updates are held back to tell of several changes at once.
    package var updateDelay: Duration
    /// How retries slow down.
    package var backoff: Backoff
    /// Whether steps of the state are kept for a state log.
    package var keepsJournal: Bool

    /// Settings with CloudKit's behaviour.
    ///
    /// - Parameter session: Any text no other run of the same device uses.
    package init(session: String, automaticallySync: Bool = true) {
      self.session = session
      self.automaticallySync = automaticallySync
      sendDelay = .milliseconds(100)
      fetchDelay = .milliseconds(100)
      updateDelay = .milliseconds(50)
      backoff = Backoff()
      keepsJournal = false
    }
  }

  /// Faults for tests: each breaks one promise, and a checker must see it.
  package struct PlantedBugs: OptionSet, Hashable, Sendable {
    /// The bits.
    package var rawValue: UInt8

    /// Wraps the bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Forgets a change when the service is unavailable.
    package static let dropOnServiceUnavailable = PlantedBugs(rawValue: 1)
    /// Moves the token before the app has the page.
    package static let tokenBeforeDelivery = PlantedBugs(rawValue: 2)
    /// Keeps pending changes of the old account after a switch.
    package static let keepPendingAfterSwitch = PlantedBugs(rawValue: 4)
  }

  /// The settings.
  package let configuration: Configuration
  /// Faults planted by a test; none otherwise.
  package var plantedBugs: PlantedBugs = []
  /// What is remembered between runs.
  package internal(set) var state: SyncState
  /// The moves since they were last taken, for whoever checks them.
  package var transitions: [Transition] = []
  /// Whether `transitions` is kept.
  package var keepsTransitions = false

  var activity: Activity = .created
  var account: AccountKnowledge = .unknown(nil)
  var needsAccountCheck = false
  /// Whether the app is being told of an account, or of none.
  var isTellingOfAccount = false
  var outbox: [SyncEvent] = []
  /// Whether the app has an event or a question and has not returned.
  var isWithApp = false
  var finished: [(waiters: [Waiter], outcome: OperationOutcome)] = []
  var cancelWaiters: [Waiter] = []
  var queue: [QueuedOperation] = []
  var abandoned: [RequestToken] = []
  var journal: [StateChange] = []
  var schedule = Schedule()
  var history = OperationHistory()
  /// When the oldest change was made that no state update has told of.
  var unannouncedSince: Moment?
  var isUpdateUrgent = false
  var untrackedVersion: UInt64 = 0
  var lastToken: UInt64 = 0
  /// The random number that came with the latest answer.
  var lastJitter = 0.5

  /// A machine that continues from `state`.
  ///
  /// Changes that were under way when the state was taken are pending again: their fate is unknown,
  /// and no request of this machine carries them.
  package init(configuration: Configuration, state: SyncState = SyncState()) {
    self.configuration = configuration
    self.state = state
    self.state.makeIndexes()
    returnUnsettled()
  }

  /// Where the machine stands.
  package var stage: Stage {
    switch activity {
    case .created: .created
    case .resting:
      switch account {
      case .signedIn: .idle
      case .unknown, .unavailable: .dormant
      }
    case .checkingAccount: .checkingAccount
    case .fetching(let fetch): fetch.stage
    case .sending(let send): send.stage
    case .stopped: .stopped
    }
  }

  /// Lets the machine begin: it finds out who is signed in, and in automatic mode fetches and
  /// sends.
  ///
  /// Does nothing a second time.
  package mutating func start(now: Moment) {
    guard case .created = activity else { return }
    enter(.resting)
    needsAccountCheck = true
    if configuration.automaticallySync {
      schedule.fetchDue = now
      scheduleSend(at: now)
    }
  }

  /// Ends everything: no instruction but `wait` comes any more, and those who wait are told.
  package mutating func stop() -> [Waiter] {
    var waiters = cancelWaiters
    switch activity {
    case .fetching(let fetch): waiters += fetch.waiters
    case .sending(let send): waiters += send.waiters
    case .created, .resting, .checkingAccount, .stopped: break
    }
    for operation in queue {
      switch operation {
      case .fetch(_, let queued), .send(_, let queued): waiters += queued
      }
    }
    waiters += finished.flatMap(\.waiters)
    queue = []
    finished = []
    cancelWaiters = []
    outbox = []
    if case .stopped = activity { return waiters }
    enter(.stopped)
    return waiters
  }

  /// What to do now.
  ///
  /// Ask again after carrying it out, and whenever something was said.
  package mutating func next(now: Moment) -> Instruction {
    while true {
      if case .stopped = activity { return .wait(until: nil) }
      if !abandoned.isEmpty { return .abandon(abandoned.removeFirst()) }
      if isWithApp { return .wait(until: nil) }
      endTelling(now: now)
      if !outbox.isEmpty {
        isWithApp = true
        let event = outbox.removeFirst()
        if case .accountChange(let change) = event { beginTelling(change, now: now) }
        return .deliver(event)
      }
      if isUpdateDue(now) {
        isWithApp = true
        unannouncedSince = nil
        isUpdateUrgent = false
        return .deliver(.stateUpdate)
      }
      if !finished.isEmpty {
        let end = finished.removeFirst()
        return .finish(end.waiters, end.outcome)
      }
      switch advance(now: now) {
      case .instruct(let instruction): return instruction
      case .again: continue
      case .rest: return .wait(until: deadline)
      }
    }
  }

  /// What one look at the activity gave.
  enum Advance {
    /// The driver has something to do.
    case instruct(Instruction)
    /// Something moved: look again.
    case again
    /// Nothing can move until something is said.
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

  /// The app returned from the event it was given.
  package mutating func delivered() { isWithApp = false }

  /// An answer arrived, or a request failed.
  ///
  /// An answer to a request nobody waits for any more changes nothing.
  /// - Parameter jitter: A number from 0 up to 1 from outside, for a back-off this may begin.
  package mutating func received(
    _ answer: Result<CloudReply, CloudError>, for token: RequestToken, now: Moment, jitter: Double
  ) {
    lastJitter = jitter
    switch activity {
    case .checkingAccount(let awaited) where awaited == token:
      settleAccount(answer, now: now)
    case .fetching(let fetch) where fetch.awaited == token:
      settle(fetch, answer, now: now)
    case .sending(let send) where send.awaited == token:
      settle(send, answer, now: now)
    case .created, .resting, .checkingAccount, .fetching, .sending, .stopped:
      break  // Late: the operation it belonged to is over.
    }
  }

  // MARK: The one place where state moves

  /// Moves to another activity, which the table must allow.
  mutating func enter(_ next: Activity) {
    let before = stage
    activity = next
    let after = stage
    guard before != after else { return }
    let transition = Transition(from: before, to: after)
    assert(transition.isLegal, "no such transition: \(before) to \(after)")
    if keepsTransitions { transitions.append(transition) }
  }

  /// Takes one step of the remembered state.
  mutating func record(_ change: StateChange, now: Moment) {
    state.apply(change)
    note(change, now: now)
  }

  /// Notes a step that the state took already.
  mutating func note(_ change: @autoclosure () -> StateChange, now: Moment) {
    if configuration.keepsJournal { journal.append(change()) }
    if unannouncedSince == nil { unannouncedSince = now }
  }

  /// The steps taken since the last call, for a state log to append.
  package mutating func takeJournal() -> [StateChange] {
    defer { journal.removeAll(keepingCapacity: true) }
    return journal
  }

  /// The moves since the last call; none unless `keepsTransitions`.
  package mutating func takeTransitions() -> [Transition] {
    guard !transitions.isEmpty else { return [] }
    defer { transitions = [] }
    return transitions
  }

  /// A request for the driver, under a new name.
  mutating func outgoing(_ request: CloudRequest) -> OutgoingRequest {
    lastToken += 1
    return OutgoingRequest(
      token: RequestToken(number: lastToken), requestID: "\(configuration.session)-\(lastToken)",
      expectedUser: state.user, request: request)
  }

  private func isUpdateDue(_ now: Moment) -> Bool {
    guard let since = unannouncedSince else { return false }
    return isUpdateUrgent || since + configuration.updateDelay <= now
  }
}
