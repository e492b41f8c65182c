import CloudProtocol
import Records
import SyncMachine

/// One device: a machine, the app above it, what both store on disk, and the checkers.
final class MachineDevice: SimulatedDevice {
  /// The storage of the app's data and the engine's state.
  enum Persistence: CaseIterable {
    /// Both in one transaction, at a state update or later or never.
    case together
    /// Data at once, state at some state updates; unconfirmed changes are added again at launch.
    case dataFirst
    /// Data at once, state in a log that has every addition when `add` returns.
    case stateLog
  }

  /// The callback that the app handles; it returns in a later step.
  enum Callback {
    case event
    case batch(RecordBatch?, addedSince: Set<PendingItem>)
    case options(FetchOptions)
  }

  let number: Int
  let name: String
  let layout: WorldLayout
  let persistence: Persistence
  let isAutomatic: Bool
  /// The probability that a state update is stored on disk.
  let keepRate: Double
  /// The probability that the app narrows the scope of a fetch.
  var scopeRate: Double

  var app: AppModel
  let emptyApp: AppModel
  var machine: SyncMachine?
  var callback: Callback?
  /// The app's data before the event that it handles.
  var appBeforeEvent: AppModel?
  /// Whether the machine may have something to do at once.
  var isRunnable = false
  /// The time at which the machine must be called again, in milliseconds.
  var wakeAt: Int?
  /// The number of starts, which names the runs.
  var session = 0
  var account: Int?
  var isOnline = true
  var lastWaiter: UInt64 = 0
  var openWaiters: Set<UInt64> = []
  /// The last instruction of the machine, for the trace.
  var lastInstruction = Instruction.wait(until: nil)
  /// Names of requests that the machine still waits for.
  var currentRequest: UInt64?

  /// The stored pairs of data and state, oldest first.
  var kept: [(app: AppModel, state: SyncState)] = []
  /// The state log: where it begins, what follows, and how much of that is surely on disk.
  var logBase = SyncState()
  var log: [StateChange] = []
  var durableLog = 0
  /// The same as a file, in some worlds; every step is on its disk at once.
  var fileLog: DeviceLog?

  /// The state of the next start.
  var nextState = SyncState()
  var fault = DeviceFault(bug: nil)

  let findings: Findings
  var checker: EventChecker
  var retryChecker = RetryChecker()

  init(
    number: Int, layout: WorldLayout, findings: Findings, random: inout SeededRandom
  ) {
    self.number = number
    name = "device\(number)"
    self.layout = layout
    self.findings = findings
    persistence = random.pick(Persistence.allCases)
    isAutomatic = random.chance(0.8)
    keepRate = random.pick([1, 0.5, 0.1])
    scopeRate = random.chance(0.3) ? 0.3 : 0
    app = AppModel(
      layout: layout, device: number,
      policy: AppModel.Policy(
        serverWins: random.chance(0.5), deletionWins: random.chance(0.5),
        isUntracked: random.chance(0.15), isAtomic: random.chance(0.3),
        batchLimit: random.pick([1, 3, 250]), addsRefusedZones: random.chance(0.3)))
    emptyApp = app
    checker = EventChecker(layout: layout)
  }

  /// The table of moves, looked up once.
  private static let legalMoves = Set(
    Stage.allCases.flatMap { from in from.exits.map { Transition(from: from, to: $0.to) } })

  /// The account's user name.
  var user: UserID? { account.map { layout.users[$0 - 1] } }

  /// Whether the machine or the app can do something now.
  func isReady(at now: Int) -> Bool {
    guard machine != nil else { return false }
    if callback != nil || isRunnable { return true }
    guard let wakeAt else { return false }
    return wakeAt <= now
  }

  var isRunning: Bool { machine != nil }

  var atRest: DeviceAtRest? {
    machine.map {
      DeviceAtRest(
        name: name, stage: $0.stage, state: $0.state, app: app, account: account,
        persistence: persistence)
    }
  }

  // MARK: Calls

  /// Something was said to the machine: it may have something to do, and nothing may be wrong.
  func moved() {
    isRunnable = true
    keepWrites()
    // In place: the machine is large, and this runs after every move.
    for transition in machine?.takeTransitions() ?? [] where !Self.legalMoves.contains(transition) {
      findings.report(
        "I15", "\(name): no such move: \(transition.from) to \(transition.to)")
    }
    let early = fault.bug == nil ? nil : machine.flatMap { fault.stored($0.state) }
    if let fault = early.map({ checker.tokenFault(in: $0) }) ?? machine?.fault(by: &checker) {
      findings.report("I10", "\(name): \(fault)")
    }
  }

  /// Carries out what the app does on the engine's state.
  func perform(_ calls: [AppCall], at now: Int) {
    guard machine != nil, !calls.isEmpty else { return }
    let moment = Moment(.milliseconds(now))
    var hasAdded = false
    for call in calls {
      switch call {
      case .add(let kind, let item):
        switch item {
        case .record(let id): machine?.add([PendingChange(kind, id)], now: moment)
        case .zone(let id): machine?.add([PendingChange(kind, id)], now: moment)
        }
        hasAdded = true
        if case .batch(let batch, var added) = callback {
          added.insert(item)
          callback = .batch(batch, addedSince: added)
        }
      case .remove(let kind, let item):
        // An app writes its data down before it takes a change back, or nobody would send the
        // change after a crash in between.
        let isPending = machine?.state.unsettledKind(of: item) == kind
        if isPending, persistence == .stateLog { appBeforeEvent = nil }
        switch item {
        case .record(let id): machine?.remove([PendingChange(kind, id)], now: moment)
        case .zone(let id): machine?.remove([PendingChange(kind, id)], now: moment)
        }
      case .noteUntracked:
        machine?.setHasUntrackedChanges(true, now: moment)
        hasAdded = true
      }
      checker.note(call)
    }
    moved()
    if hasAdded { durableLog = log.count }
  }

  /// Lets the app do something and carries out what it does on the engine's state.
  func withApp(at now: Int, _ body: (inout AppModel) -> Void) {
    body(&app)
    let calls = app.calls
    app.calls.removeAll(keepingCapacity: true)
    perform(calls, at: now)
  }

  /// Lets people do something in the app, which writes it down at once, with all that it holds.
  ///
  /// An app that dies over an event later has lost nothing of that.
  func use(at now: Int, _ body: (inout AppModel) -> Void) {
    appBeforeEvent = nil
    withApp(at: now, body)
  }

  /// Checks that no pending change was lost or invented.
  func checkPendingChanges() {
    guard let machine else { return }
    report(checker.changeFaultsAtRest(in: machine.state))
    if let difference = checker.pendingChanges.difference(from: machine.state) {
      findings.report("I3", "\(name): \(difference)")
    }
  }

  func report(_ faults: [EventChecker.Fault]) {
    for fault in faults { findings.report(fault.invariant, "\(name): \(fault.message)") }
  }
}

extension SyncMachine {
  /// The fault of the tokens, found without a copy of the machine.
  fileprivate mutating func fault(by checker: inout EventChecker) -> String? {
    checker.tokenFault(in: state)
  }
}
