import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncMachine
import Synchronization

/// One device: what stays when its app ends, and the run of the app that there is.
final class EngineDevice: SimulatedDevice {
  /// One run of the app, from its launch to its end.
  struct Run {
    let number: Int
    let link: SimulatedLink
    let app: EngineApp
    let engine: CKSyncEngine
    let container: CKContainer
  }

  /// Knows whether what belonged to a run that ended is still there.
  struct EndedRun {
    weak var engine: CKSyncEngine?
    weak var app: EngineApp?
    weak var link: SimulatedLink?
  }

  let number: Int
  let name: String
  let layout: WorldLayout
  let scope: DatabaseScope
  /// The device in the same process on the private database; `nil` for that device itself.
  let host: EngineDevice?
  /// The device in the same process on the shared database.
  weak var guest: EngineDevice?
  let persistence: MachineDevice.Persistence
  let isAutomatic: Bool
  let keepRate: Double
  private(set) var pauseRate: Double
  var scopeRate: Double
  private(set) var delegateFaults: DelegateFaults
  /// Whether its app may call zones of its own user by the user's record name.
  private var mayName = true
  let findings: Findings
  let journal: WorldJournal

  /// The app's data as they are on disk while it does not run.
  var model: AppModel
  private let emptyModel: AppModel
  /// The state the next run is given, and whether it is older than the newest.
  private var nextState = (state: RestartState.nothing, isOlder: false)
  private var kept: [Backup] = []
  /// The disk under the engine's state store; another one after each end.
  private(set) var disk: SimulatedDisk
  /// The probability that a call of the disk fails.
  private var diskFaultRate: Double
  /// Whether the disk failed in the last run: the app can't trust the engine to remember.
  private var hadStoreFailure = false
  /// The books of the last run, to compare with what the next one has.
  private var lastPendingChanges: PendingChangeChecker?

  var run: Run?
  private(set) var runCount = 0
  /// An app that was given this device's state for another database.
  private(set) var foreignApp: ForeignStateApp?
  private var endedRuns: [EndedRun] = []
  /// The app's own: who listens to the process's default one must not receive this world.
  private let notificationCenter = NotificationCenter()
  /// The state that the engines of one process share.
  let processState: ProcessState
  var retryChecker = RetryChecker()
  /// What had happened on the server when the device last had a cause to fetch everything; `nil`
  /// when it never had one since it was signed in.
  private(set) var newsTime: Int?
  /// The account that its engine last could learn of.
  private var toldAccount: Int?
  /// Whether the app never leaves a zone out of a fetch that the engine began.
  private(set) var fetchesEverything: Bool

  init(
    number: Int, layout: WorldLayout, findings: Findings, journal: WorldJournal,
    random: inout SeededRandom, host: EngineDevice? = nil
  ) {
    self.number = number
    self.layout = layout
    self.host = host
    scope = host == nil ? .private : .shared
    processState = host?.processState ?? ProcessState()
    self.findings = findings
    self.journal = journal
    name = host.map { "\($0.name) (shared)" } ?? "device\(number)"
    // Three in four keep blobs, so that a fifth of all restarts can be from an older one.
    persistence = random.pick([
      .together, .together, .together, .dataFirst, .dataFirst, .dataFirst, .stateLog, .stateLog,
    ])
    isAutomatic = random.chance(0.8)
    keepRate = random.pick([1, 1, 0.5, 0.2])
    pauseRate = random.pick([0, 0.1, 0.5])
    scopeRate = random.chance(0.3) ? 0.3 : 0
    fetchesEverything = scopeRate == 0
    delegateFaults = DelegateFaults(&random)
    disk = SimulatedDisk(seed: random.next())
    diskFaultRate = random.chance(0.15) ? 0.03 : 0
    model = AppModel(
      layout: layout, device: number,
      policy: AppModel.Policy(
        serverWins: random.chance(0.5), deletionWins: random.chance(0.5),
        isUntracked: random.chance(0.15), isAtomic: random.chance(0.3),
        batchLimit: random.pick([1, 3, 250]), addsRefusedZones: random.chance(0.3),
        visits: host.map { _ in SharingOptions.owner }))
    emptyModel = model
  }

  /// Removes the parts that `shape` lacks.
  func apply(_ shape: WorldShape) {
    if shape.lacks(.pauses) { pauseRate = 0 }
    if shape.lacks(.scopes) {
      scopeRate = 0
      fetchesEverything = true
    }
    if shape.lacks(.delegateFaults) { delegateFaults = .none }
    if shape.lacks(.names) { mayName = false }
    if shape.lacks(.diskFaults) { diskFaultRate = 0 }
  }

  /// Starts the app with the data on disk.
  func launch(_ world: EngineWorld, random: SeededRandom) {
    guard run == nil else { return }
    runCount += 1
    let link =
      host?.run?.link
      ?? SimulatedLink(device: number, run: runCount, networkQueue: world.networkQueue)
    let app = EngineApp(
      self, model: model, checker: EventChecker(layout: layout, home: model.policy.visits),
      cloud: world.cloud, random: random,
      naming: ZoneNaming(
        world: world.seed, device: number, run: runCount, isPossible: host == nil && mayName))
    let container =
      host?.run?.container
      ?? CKContainer(
        identifier: WorldLayout.container,
        connection: link, taskExecutor: world.executor, notificationCenter: notificationCenter)
    var configuration = CKSyncEngine.Configuration(
      database: scope == .shared ? container.sharedCloudDatabase : container.privateCloudDatabase,
      stateSerialization: restoredState(), delegate: app)
    configuration.automaticallySync = isAutomatic
    configuration.clock = world.executor.clock
    configuration.taskExecutor = world.executor
    configuration.leastShownChanges = [10_000, 1, 2, 5][Int(world.seed % 4)]
    if persistence == .stateLog {
      configuration.stateStore = openStore()
    }
    let engine = CKSyncEngine(configuration)
    if let error = engine.stateStoreError {
      findings.report("I11", "\(name): the state store does not open: \(error)")
    }
    let state = engine.syncState
    if let loss = nextState.state.kept.flatMap({ state.lossOfChanges(since: $0) }) {
      findings.report("I3", "\(name): \(loss)")
    }
    if persistence == .stateLog, let loss = lastPendingChanges?.loss(in: state) {
      findings.report("I3", "\(name): \(loss)")
    }
    lastPendingChanges = nil
    app.contents.withLock { contents in
      contents.kept = kept
      contents.checker.restart(with: state)
    }
    retryChecker.restart(at: world.now)
    (toldAccount, newsTime) = (nil, nil)
    noteAccount(at: world.cloud.time)
    run = Run(number: runCount, link: link, app: app, engine: engine, container: container)
    if let given = nextState.state.given, !world.isHealed, world.random.chance(0.06) {
      let differences = ForeignStateApp.Difference.allCases
      foreignApp = ForeignStateApp(
        self, differences[runCount % differences.count], state: given, world)
    }
    if world.isHealed { calmDown() }
    if persistence == .stateLog, diskFaultRate > 0, !world.isHealed {
      for operation in DiskOperation.allCases { disk.faults.rates[operation] = diskFaultRate }
    }
    if persistence == .dataFirst || hadStoreFailure { app.use(engine) { $0.readdDirty() } }
  }

  // MARK: Seen by the world

  var isRunning: Bool { run != nil }
  var summary: String { run.map { "\($0.engine.stage)" } ?? "off" }

  var atRest: DeviceAtRest? {
    run.map {
      DeviceAtRest(
        name: name, stage: $0.engine.stage, state: $0.engine.syncState, app: $0.app.model,
        account: account, persistence: persistence, openRequests: $0.link.openCount)
    }
  }

  func use(at now: Int, _ body: (inout AppModel) -> Void) {
    if let run { run.app.use(run.engine, body) }
  }

  func named(_ id: RecordID, _ naming: Situation.Naming) -> RecordID {
    run.map { $0.app.spelled(id, naming, $0.engine) } ?? id
  }

  private func openStore() -> (any StateStore)? {
    do {
      return try DeviceLog.store(on: disk)
    } catch {
      findings.report("I19", "\(name): the state's file does not open: \(error)")
      return nil
    }
  }

  /// Whether its account can be used.
  var isUsable: Bool { account != nil && processState.availability == .available }

  /// Something changed on the server, and the device's engine is told so.
  func noteNews(at time: Int) {
    if account != nil { newsTime = time }
  }

  /// The device's engine may learn who is signed in; a new account is a cause to fetch.
  func noteAccount(at time: Int) {
    guard account != toldAccount else { return }
    toldAccount = account
    newsTime = account == nil ? nil : time
  }

  /// Ends the faults of the device and its app.
  func calmDown() {
    disk.faults = DiskFaults()
    scopeRate = 0
    run?.app.contents.withLock { contents in
      contents.scopeRate = 0
      contents.isCalm = true
    }
  }

  /// Cuts the power at a call on the disk to come.
  func losePower(afterCalls count: Int) {
    disk.faults.powerOff = disk.operationCount + count
  }

  /// The restored state.
  private func restoredState() -> CKSyncEngine.State.Serialization? {
    if runCount > 1, let kind = nextState.state.kind {
      let kind = nextState.isOlder ? kind.older : kind
      journal.reach("restart \(kind)")
      if nextState.state.kept?.hasChangesInFlight ?? false {
        journal.reach("restart \(kind) inFlight")
      }
    }
    guard case .value(let state, let kind) = nextState.state else { return nil }
    return kind == .encoded ? decoded(state.value) : state
  }

  private func decoded(_ state: SyncState) -> CKSyncEngine.State.Serialization? {
    do {
      let restored = try SyncState(decoding: state.encoded())
      if restored != state {
        findings.report("I11", "\(name): the state came back as another one")
      }
      return CKSyncEngine.State.Serialization(restored)
    } catch {
      findings.report("I11", "\(name): its own state can't be read: \(error)")
      return nil
    }
  }

  /// The app ends at once; returns whether it will go on from older data than the newest.
  ///
  /// - Parameter isStale: whether an older pair of data and state comes back, as from a backup.
  func end(_ random: inout SeededRandom, isStale: Bool) -> Bool {
    foreignApp?.end()
    foreignApp = nil
    guard let run else { return false }
    self.run = nil
    run.link.sever()
    let left = run.app.end()
    hadStoreFailure = run.engine.stateStoreError != nil
    disk =
      disk.isOff || random.chance(0.3)
      ? disk.crash(seed: random.next()) : disk.restarted()
    endedRuns.append(EndedRun(engine: run.engine, app: run.app, link: run.link))
    model = left.model
    model.calls = []
    model.sweep = nil
    kept = left.kept
    switch persistence {
    case .stateLog: endWithLog(left, &random, isStale: isStale)
    case .together, .dataFirst: endWithValues(&random, isStale: isStale)
    }
    return nextState.isOlder
  }

  /// The log on the disk is what the next run goes on from, or a backup of it with its data.
  private func endWithLog(
    _ left: EngineApp.Contents, _ random: inout SeededRandom, isStale: Bool
  ) {
    nextState = (.log, false)
    lastPendingChanges = hadStoreFailure ? nil : left.checker.pendingChanges
    guard isStale, !kept.isEmpty, random.chance(0.4) else { return }
    let index = random.below(kept.count)
    kept.removeSubrange((index + 1)...)
    guard case .log(let older, let books) = kept[index].held else { return }
    model = kept[index].model
    disk = older.restarted()
    lastPendingChanges = books
    hadStoreFailure = false
    nextState.isOlder = true
  }

  private func endWithValues(_ random: inout SeededRandom, isStale: Bool) {
    guard !kept.isEmpty else {
      if persistence == .together { model = emptyModel } else { model.forgetConfirmed() }
      nextState = (.nothing, false)
      return
    }
    let index = isStale ? random.below(max(1, kept.count - 1)) : kept.count - 1
    let isOlder = index < kept.count - 1
    kept.removeSubrange((index + 1)...)
    let older = kept[index].model
    if persistence == .together {
      model = older
    } else {
      model.forgetConfirmed(except: older.confirmedZones)
    }
    nextState = (RestartState(kept[index].held, isEncoded: random.chance(0.4)), isOlder)
  }

  /// The number of ended runs with objects that are still alive.
  var leftOverCount: Int {
    endedRuns.count { $0.engine != nil || $0.app != nil || $0.link != nil }
  }
}
