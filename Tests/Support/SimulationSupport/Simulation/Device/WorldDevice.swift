import CloudProtocol
import Records
import SyncMachine

/// One device: a machine, the app above it, what both keep on disk, and the checkers that watch.
final class WorldDevice {
  /// How the app keeps its data and the engine's state.
  enum Persistence: CaseIterable {
    /// Both in one transaction, at a state update or later or never.
    case together
    /// Data at once, state at some state updates; what is unconfirmed is added again at launch.
    case dataFirst
    /// Data at once, state in a log that has every addition when `add` returns.
    case stateLog
  }

  /// What the app is busy with; it returns in a later step.
  enum Callback {
    case event
    case batch(RecordBatch?, addedSince: Set<RecordID>)
    case options(FetchOptions)
  }

  let number: Int
  let name: String
  let layout: WorldLayout
  let persistence: Persistence
  let isAutomatic: Bool
  /// How often a state update is kept on disk.
  let keepRate: Double
  /// How often the app narrows the scope of a request.
  var scopeRate: Double

  var app: AppModel
  let emptyApp: AppModel
  var machine: SyncMachine?
  var callback: Callback?
  /// What the app had before the event it is busy with.
  var appBeforeEvent: AppModel?
  /// Whether the machine may have something to do at once.
  var isRunnable = false
  /// When the machine wants to be asked again, in milliseconds.
  var wakeAt: Int?
  /// How often the device was started: names the runs.
  var session = 0
  /// Who is signed in on the device, counted from 1; `nil` for nobody.
  var account: Int?
  var isOnline = true
  var lastWaiter: UInt64 = 0
  var openWaiters: Set<UInt64> = []
  /// What the machine said last, for the trace.
  var lastInstruction = Instruction.wait(until: nil)
  /// Names of requests that the machine still waits for.
  var currentRequest: UInt64?

  /// What was kept, oldest first.
  var kept: [(app: AppModel, state: SyncState)] = []
  /// The state log: where it begins, what follows, and how much of that is surely on disk.
  var logBase = SyncState()
  var log: [StateChange] = []
  var durableLog = 0
  /// The same as a file, in some worlds; every step is on its disk at once.
  var fileLog: DeviceLog?

  /// What it starts from when it is off.
  var nextState = SyncState()
  var plantedBugs: SyncMachine.PlantedBugs = []

  let findings: Findings
  var ledger: PendingLedger
  var order = EventOrderChecker()
  var tokens = TokenChecker()
  var patience = PatienceChecker()

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
        batchLimit: random.pick([1, 3, 250])))
    emptyApp = app
    ledger = PendingLedger(layout: layout)
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
    if let fault = machine?.fault(by: &tokens) {
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
      case .add(let change):
        machine?.add([change], now: moment)
        hasAdded = true
        if case .batch(let batch, var added) = callback {
          added.insert(change.id)
          callback = .batch(batch, addedSince: added)
        }
      case .remove(let change):
        noteTakingBack(machine?.state.records.unsettledKind(of: change.id) == change.kind)
        machine?.remove([change], now: moment)
      case .addZone(let change):
        machine?.add([change], now: moment)
        hasAdded = true
      case .removeZone(let change):
        noteTakingBack(machine?.state.zones.unsettledKind(of: change.id) == change.kind)
        machine?.remove([change], now: moment)
      case .noteUntracked:
        machine?.setHasUntrackedChanges(true, now: moment)
        hasAdded = true
      }
      ledger.note(call)
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
  func withPeople(at now: Int, _ body: (inout AppModel) -> Void) {
    appBeforeEvent = nil
    withApp(at: now, body)
  }

  /// An app writes its data down before it takes a change back, or nobody would send the change
  /// after a crash in between.
  private func noteTakingBack(_ isPending: Bool) {
    if isPending, persistence == .stateLog { appBeforeEvent = nil }
  }

  /// Checks that nothing pending was lost or invented.
  func compareLedger() {
    guard let machine else { return }
    if let difference = ledger.difference(from: machine.state) {
      findings.report("I3", "\(name): \(difference)")
    }
  }
}

extension SyncMachine {
  /// What the checker finds in the state, without a copy of the machine.
  fileprivate mutating func fault(by tokens: inout TokenChecker) -> String? {
    tokens.fault(in: state)
  }
}
