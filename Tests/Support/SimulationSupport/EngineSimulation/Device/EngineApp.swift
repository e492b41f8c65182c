import CloudProtocol
import CloudSync
import Records
import SyncMachine
import Synchronization

/// The app of one run of a device: a straight delegate around an ``AppModel``, and the checkers
/// of what it is told.
///
/// What the model decides is done on the engine as an app would do it. Between two moments of a
/// callback the app pauses now and then, so that everything else may come in between.
final class EngineApp: CKSyncEngineDelegate {
  /// The state that the lock guards.
  struct Contents {
    var model: AppModel
    var checker: EventChecker
    var random: SeededRandom
    /// The stored pairs of data and state, oldest first.
    var kept: [Backup] = []
    /// The number of running callbacks; more than one is a fault of the engine.
    var callbacks = 0
    /// What was added since the engine asked for the batch that is being made: it can't know when
    /// the app puts the batch together, and takes all of this for newer.
    var addedSinceBatch: Set<PendingItem>?
    /// The zones added since the engine took zone changes for a request that is not out yet.
    var zonesAddedSince: Set<PendingItem> = []
    /// Whether the run has ended, and only its last tasks have not noticed.
    var isDead = false
    var scopeRate: Double
    /// The server's clock at the start of the fetch.
    var fetchBegan = 0
    /// The database token of the fetch.
    var tokenState: Situation.TokenState?
    /// By which name it calls zones of its own user.
    var naming: ZoneNaming
    /// Whether the app is careful from now on, without delegate faults.
    var isCalm = false

    /// Whether `state` has everything that the data want from the engine.
    func holdsNothingBeyond(_ state: SyncState) -> Bool {
      guard checker.pendingChanges.difference(from: state) == nil else { return false }
      return !model.policy.isUntracked || state.hasUntrackedChanges
        || !model.entries.contains { $0.isDirty && !$0.isBlocked }
    }
  }

  let name: String
  let number: Int
  let layout: WorldLayout
  let persistence: MachineDevice.Persistence
  let keepRate: Double
  /// The probability that the app pauses in a callback.
  let pauseRate: Double
  let delegateFaults: DelegateFaults
  /// Whether it may call zones of its own user by the user's record name, in this run or another.
  let namesOwner: Bool
  /// The disk under the engine's state store, which may end in the middle of a write.
  let disk: SimulatedDisk
  let findings: Findings
  let journal: WorldJournal
  let cloud: EngineCloud
  let contents: Mutex<Contents>

  init(
    _ device: EngineDevice, model: AppModel, checker: EventChecker, cloud: EngineCloud,
    random: SeededRandom, naming: ZoneNaming
  ) {
    self.cloud = cloud
    name = device.name
    number = device.number
    layout = device.layout
    persistence = device.persistence
    keepRate = device.keepRate
    pauseRate = device.pauseRate
    delegateFaults = device.delegateFaults
    namesOwner = naming.isMixed
    disk = device.disk
    findings = device.findings
    journal = device.journal
    contents = Mutex(
      Contents(
        model: model, checker: checker, random: random, scopeRate: device.scopeRate, naming: naming)
    )
  }

  // MARK: The delegate

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let told = spelling(syncEngine).plain(event.machineEvent)
    guard enter() else { return }
    let summary = told.summary
    journal.mix(summary)
    journal.note("\(name) is told \(summary)")
    // The books are kept before anything else can come in between.
    let state = syncEngine.syncState
    contents.withLock { contents in
      let faults = contents.checker.faults(
        of: told, with: state, owner: contents.model.owner, lastSequence: journal.lastSequence)
      for fault in faults { findings.report(fault.invariant, "\(name): \(fault.message)") }
      contents.checker.note(told)
    }
    checkReasons(in: told)
    if case .accountChange(let change) = told {
      checkForgotten(by: syncEngine)
      checkKept(change)
    }
    await pause()
    use(syncEngine) { $0.handle(told) }
    keep(event, syncEngine)
    await misbehave(syncEngine)
    await pause()
    leave { $0.checker.noteReturn() }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard enter() else { return nil }
    contents.withLock { $0.addedSinceBatch = [] }
    journal.mix(1)
    await pause()
    let spelling = spelling(syncEngine)
    let waiting = syncEngine.state.pendingRecordZoneChanges.map(\.machineChange).map {
      PendingChange($0.kind, spelling.plain($0.id))
    }
    let sendContext = spelling.plain(context.machineContext)
    var batch: RecordBatch?
    contents.withLock { $0.checker.noteBuilding() }
    use(syncEngine) { batch = $0.nextBatch(sendContext, waiting: waiting) }
    await misbehave(syncEngine)
    await pause()
    let isAsked = syncEngine.stage == .askingBatch
    leave { contents in
      if let batch, isAsked {
        contents.checker.note(given: batch, addedSince: contents.addedSinceBatch ?? [])
      }
      contents.addedSinceBatch = nil
    }
    journal.note("\(name) gives \(batch?.saves.count ?? 0) + \(batch?.deletions.count ?? 0)")
    return batch.map {
      CKSyncEngine.RecordZoneChangeBatch(spelled($0, syncEngine), delegateFaults: delegateFaults)
    }
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    guard enter() else { return context.options }
    journal.mix(2)
    await pause()
    var options = context.options
    var choice: (zone: ZoneID, kind: Int)?
    leave { contents in
      guard contents.random.chance(contents.scopeRate) else { return }
      choice = (contents.random.pick(layout.zones), contents.random.below(4))
    }
    guard let choice else { return options }
    let zone = CKRecordZone.ID(spelled(choice.zone, .fetchScope, syncEngine))
    switch choice.kind {
    case 0: options.scope = .zoneIDs([zone])
    case 1: options.scope = .allExcluding([zone])
    case 2: options.scope = .all
    default: options.prioritizedZoneIDs = [zone]
    }
    return options
  }

  // MARK: Around a callback

  private func enter() -> Bool {
    let (isDead, callbacks) = contents.withLock { contents in
      if disk.isOff { contents.isDead = true }
      if !contents.isDead { contents.callbacks += 1 }
      return (contents.isDead, contents.callbacks)
    }
    if callbacks > 1 {
      findings.report("I14", "\(name): a callback begins while another runs")
    }
    return !isDead
  }

  private func leave(_ body: (inout Contents) -> Void) {
    contents.withLock { contents in
      contents.callbacks -= 1
      guard !contents.isDead else { return }
      body(&contents)
    }
  }

  /// Lets other tasks run, like an app that writes a file.
  private func pause() async {
    let count = contents.withLock { contents in
      contents.random.chance(pauseRate) ? contents.random.number(in: 1...3) : 0
    }
    for _ in 0..<count { await Task.yield() }
  }

  // MARK: What the model does

  /// Lets the model do something, and does on the engine what it decided.
  func use(_ engine: CKSyncEngine, _ body: (inout AppModel) -> Void) {
    guard !disk.isOff else { return }
    var before: AppModel?
    let calls = contents.withLock { contents -> [AppCall] in
      guard !contents.isDead else { return [] }
      before = contents.model
      body(&contents.model)
      defer { contents.model.calls.removeAll(keepingCapacity: true) }
      return contents.model.calls
    }
    for call in calls {
      let spelled = spelled(call, engine)
      journal.note("\(name) calls \(spelled)")
      switch spelled {
      case .add(let kind, .record(let id)):
        engine.state.add(pendingRecordZoneChanges: [.init(machine: PendingChange(kind, id))])
      case .add(let kind, .zone(let id)):
        engine.state.add(pendingDatabaseChanges: [.init(machine: PendingChange(kind, id))])
      case .remove(let kind, .record(let id)):
        engine.state.remove(pendingRecordZoneChanges: [.init(machine: PendingChange(kind, id))])
      case .remove(let kind, .zone(let id)):
        engine.state.remove(pendingDatabaseChanges: [.init(machine: PendingChange(kind, id))])
      case .noteUntracked: engine.state.hasPendingUntrackedChanges = true
      }
      if disk.isOff {
        // The app writes its data last, and that it never did; whether the engine's state has the
        // call, nobody can know.
        return contents.withLock { contents in
          if let before { contents.model = before }
          contents.checker.excuse(call)
        }
      }
      let isSending = engine.stage == .sendingZones
      contents.withLock { contents in
        contents.checker.note(call)
        guard case .add(_, let item) = call else { return }
        contents.addedSinceBatch?.insert(item)
        // Once the request is out the checkers know by themselves what is newer.
        if isSending, !contents.checker.pendingChanges.hasZonesInFlight {
          contents.zonesAddedSince.insert(item)
        }
      }
    }
  }

  /// Stores what an app would store.
  private func keep(_ event: CKSyncEngine.Event, _ engine: CKSyncEngine) {
    switch event {
    case .stateUpdate(let update): keep(update.stateSerialization, engine)
    case .accountChange:
      // A state that knows more than the data, which were just dropped, must never come back.
      if persistence == .dataFirst { contents.withLock { $0.kept.removeAll() } }
    default: break
    }
  }

  /// Keeps the data with the state of the event or of the engine, or with a copy of its log.
  private func keep(_ given: CKSyncEngine.State.Serialization, _ engine: CKSyncEngine) {
    let state = engine.syncState
    let isLogSound = persistence == .stateLog && engine.stateStoreError == nil && !disk.isOff
    contents.withLock { contents in
      guard !contents.isDead else { return }
      let held: Backup.Held
      if persistence == .stateLog {
        guard isLogSound, contents.random.chance(keepRate * 0.2) else { return }
        held = .log(disk.restarted(), contents.checker.pendingChanges)
      } else {
        guard contents.random.chance(keepRate) else { return }
        let isEvents = contents.random.chance(0.7)
        let value = isEvents ? given : CKSyncEngine.State.Serialization(state.snapshot)
        // What was edited since this state was made is in the next one: data that are ahead of
        // their state are no pair.
        guard persistence == .dataFirst || contents.holdsNothingBeyond(value.value) else { return }
        held = .value(value, isEvents ? .value : .engineValue)
      }
      var model = contents.model
      model.calls = []
      model.sweep = nil
      contents.kept.append(Backup(model: model, held: held))
      if contents.kept.count > 6 { contents.kept.removeFirst() }
    }
  }

  /// I21: an app is told that a zone is gone only when it is, and why.
  private func checkReasons(in event: SyncEvent) {
    switch event {
    case .willFetchChanges:
      contents.withLock { contents in
        contents.fetchBegan = cloud.time
        contents.tokenState = nil
      }
    case .fetchedDatabaseChanges(_, let deleted) where !deleted.isEmpty:
      let (start, owner, token) = contents.withLock {
        ($0.fetchBegan, $0.model.owner, $0.tokenState)
      }
      if let token {
        for deletion in deleted { journal.reach("\(deletion.reason) told \(token)") }
      }
      guard let account = owner.flatMap({ layout.account(of: $0) }) else { return }
      for fault in cloud.faults(telling: deleted, to: account, since: start) {
        findings.report("I21", "\(name): \(fault)")
      }
    default: break
    }
  }

  /// The engine asks for the list of zones from a token, or from the start.
  func note(listingFrom token: ChangeToken?) {
    contents.withLock { contents in
      if contents.tokenState == nil { contents.tokenState = token == nil ? .absent : .live }
    }
  }

  /// The engine is told that its token for the list of zones has expired.
  func noteExpiredListing() { contents.withLock { $0.tokenState = .expired } }

  private func checkForgotten(by engine: CKSyncEngine) {
    let difference = contents.withLock {
      $0.checker.pendingChanges.recordDifference(from: engine.syncState)
    }
    if let difference {
      findings.report("I13", "\(name): after a change of account, \(difference)")
    }
  }

  /// No account is reported to the app that would be unknown after a power cut.
  private func checkKept(_ change: AccountChange) {
    guard persistence == .stateLog, !disk.isOff else { return }
    do {
      let kept = try DeviceLog.state(in: DeviceLog.store(on: disk.crash(seed: 0)))
      if kept?.user == change.current { return }
      findings.report("I13", "\(name): is told of an account that its state store does not have")
    } catch {
      findings.report("I13", "\(name): the state store can't say whose data it has: \(error)")
    }
  }

  // MARK: What the world does

  /// Ends the run: its tasks have no more effect.
  func end() -> Contents {
    contents.withLock { contents in
      contents.isDead = true
      return contents
    }
  }

  /// Whether a callback is under way.
  var isBusy: Bool { contents.withLock { $0.callbacks > 0 } }

  /// The app's data.
  var model: AppModel { contents.withLock { $0.model } }
}

extension CKSyncEngine.PendingDatabaseChange {
  init(machine change: PendingChange<ZoneID>) {
    switch change.kind {
    case .save: self = .saveZone(CKRecordZone(zoneID: CKRecordZone.ID(change.id)))
    case .delete: self = .deleteZone(CKRecordZone.ID(change.id))
    }
  }
}

extension CKSyncEngine.RecordZoneChangeBatch {
  /// The batch an app would make: records with their cached system fields and new values.
  init(_ batch: RecordBatch, delegateFaults: DelegateFaults) {
    self.init(
      recordsToSave: batch.saves.map { save in
        let record = CKRecord.face(
          of: Record(id: save.id, type: save.type, changeTag: save.changeTag))
        for change in save.changes {
          if case .int64(let number) = change.field?.value { record[change.key] = number }
        }
        if case .set(let parent?) = save.parent {
          record.parent = CKRecord.Reference(recordID: CKRecord.ID(parent), action: .none)
        }
        return record
      },
      recordIDsToDelete: batch.deletions.map { CKRecord.ID($0) }, atomicByZone: batch.isAtomic)
  }
}
