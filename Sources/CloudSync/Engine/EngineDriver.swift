import CloudProtocol
import Foundation
import Records
import SyncMachine
import Synchronization

/// Runs the state machine: provides its clock, transport, delegate and tasks.
///
/// All mutable state of the machine is in `core`, guarded by one lock. The driver locks, calls the
/// machine, unlocks, and then acts: it never calls the delegate, the transport or a continuation
/// under the lock. The state store is written under the lock, to keep the machine's order.
///
/// One task, the pump, carries out the machine's instructions one after the other; each request
/// runs in its own task and reports its reply. The driver holds engine and delegate weakly: when
/// either is deallocated, the pump ends.
final class EngineDriver: Sendable {
  /// The values guarded by the lock.
  struct Core: ~Copyable {
    var machine: SyncMachine
    var journal: StateJournal?
    /// The calls that wait for a manual operation.
    var waiters: [Waiter: CheckedContinuation<Result<Void, CKError>, Never>] = [:]
    /// The options of manual operations, by ticket.
    var fetchOptions: [UInt64: CKSyncEngine.FetchChangesOptions] = [:]
    var sendOptions: [UInt64: CKSyncEngine.SendChangesOptions] = [:]
    var lastTicket: UInt64 = 0
    /// The records of the batch in flight, as the delegate supplied them, and what is sent of them.
    var batch: [(record: CKRecord, save: RecordSave)] = []
    /// The records of the operation that could not be saved, for its error.
    var failedRecords: [RecordID: CKRecord] = [:]
    var requests: [RequestToken: Task<Void, Never>] = [:]
    var timer: (deadline: Moment, task: Task<Void, Never>)?
    var observation: (any SignalObservation)?
    var isStopped = false
    /// Whether there was a store when the engine stopped: changes are not stored any more.
    var hasReleasedStore = false

    /// The machine's next instruction, after its state changes were stored.
    mutating func next(now: Moment) -> Instruction {
      while true {
        let instruction = machine.next(now: now)
        guard store(now: now), case .wait = instruction else { return instruction }
      }
    }

    /// Performs the machine's writes.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func store(now: Moment) -> Bool {
      var hasWritten = false
      while let write = machine.nextWrite() {
        hasWritten = true
        if journal?.perform(write, of: machine) ?? true {
          machine.stored(journal?.size ?? StoreSize())
        } else {
          machine.storeFailed(now: now)
        }
      }
      return hasWritten
    }
  }

  let core: Mutex<Core>
  /// The last lists of pending changes returned to the app; never locked inside `core`.
  let listings = Mutex(EngineListings())
  let database: CKDatabase
  let transport: any CloudTransport
  let clock: EngineClock
  /// The executor of the driver's tasks; `nil` for the default one.
  let taskExecutor: (any TaskExecutor)?
  /// The tracer, if there is one.
  let tracer: (any SyncTracer)?
  /// The observers of the status; `nil` when the engine has stopped.
  let statusObservers = Mutex<[UUID: AsyncStream<Void>.Continuation]?>([:])
  /// Whether the status was ever observed.
  let isObserved = Atomic(false)
  /// Wakes the pump; a signal while the pump is not waiting is kept.
  private let wakeup = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let engine = Mutex(WeakEngine())
  private let delegate: WeakDelegate
  /// The object that is called in the delegate's place; `nil` except in tests.
  private let interposed: (any CKSyncEngineDelegate)?

  struct WeakEngine { weak var value: CKSyncEngine? }

  /// The delegate, which the app retains.
  ///
  /// `@unchecked` because a weak reference has to be a variable for Swift 6.2; only the initializer
  /// sets it, which guards it.
  struct WeakDelegate: @unchecked Sendable {
    private(set) weak var value: (any CKSyncEngineDelegate)?

    init(_ value: any CKSyncEngineDelegate) { self.value = value }
  }

  init(
    machine: SyncMachine, journal: StateJournal?, database: CKDatabase,
    transport: any CloudTransport, delegate: any CKSyncEngineDelegate,
    interposed: (any CKSyncEngineDelegate)?, clock: EngineClock,
    taskExecutor: (any TaskExecutor)?, tracer: (any SyncTracer)?
  ) {
    core = Mutex(Core(machine: machine, journal: journal))
    self.tracer = tracer
    self.database = database
    self.transport = transport
    self.delegate = WeakDelegate(delegate)
    self.interposed = interposed
    self.clock = clock
    self.taskExecutor = taskExecutor
  }

  /// The error of the state store while it refuses an account change.
  var holdError: (any Error)? {
    core.withLock { $0.machine.isHoldingAccountChange ? $0.journal?.error : nil }
  }

  // MARK: Locking

  /// Calls the machine in `body`, appends its state changes to the store and wakes the pump.
  func move<Value: Sendable>(_ body: (inout Core, Moment) -> Value) -> Value {
    let now = clock.now()
    let (value, transitions) = core.withLock { core in
      let value = body(&core, now)
      core.store(now: now)
      return (value, core.machine.takeTransitions())
    }
    trace(transitions)
    signalStatus()
    wakeup.continuation.yield()
    return value
  }

  // MARK: Start and stop

  /// Starts the machine for `engine`.
  func start(_ engine: CKSyncEngine) {
    self.engine.withLock { $0.value = engine }
    let observation = transport.observeSignals { [weak self] signal in self?.heard(signal) }
    move { core, now in
      core.observation = observation
      core.machine.start(now: now)
    }
    spawn { [self] in await pump() }
  }

  /// Ends all work; waiting calls fail with `operationCancelled`.
  func stop() {
    let (continuations, tasks, observation) = core.withLock { core in
      core.isStopped = true
      let waiters = core.machine.stop()
      let continuations = waiters.compactMap { core.waiters.removeValue(forKey: $0) }
      var tasks = Array(core.requests.values)
      if let timer = core.timer { tasks.append(timer.task) }
      core.requests = [:]
      core.timer = nil
      core.hasReleasedStore = core.journal != nil
      core.journal = nil  // Releases the store.
      let observation = core.observation
      core.observation = nil
      return (continuations, tasks, observation)
    }
    observation?.stop()
    for task in tasks { task.cancel() }
    let gone = CloudError(.operationCancelled, "The sync engine was deallocated.")
    for continuation in continuations {
      continuation.resume(returning: .failure(CKError(gone)))
    }
    endStatus()
    wakeup.continuation.yield()
  }

  /// Starts a task; the only place where the driver does so.
  @discardableResult
  private func spawn(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    // Detached: task-local values of the caller must not apply to the engine's work.
    Task.detached(executorPreference: taskExecutor) { await body() }
  }

  private func heard(_ signal: CloudSignal) {
    switch signal {
    case .accountChanged:
      trace { SyncTraceEntry(time: $0, kind: .signal, name: "accountChanged") }
      move { core, now in core.machine.accountSignalled(now: now) }
    case .push(let push):
      let connection = database.connection
      guard push.concerns(connection.container, connection.environment),
        push.database == database.databaseScope.value
      else { return }
      trace { SyncTraceEntry(time: $0, kind: .signal, name: "push") }
      move { core, now in core.machine.serverChanged(now: now) }
    case .networkReturned:
      trace { SyncTraceEntry(time: $0, kind: .signal, name: "networkReturned") }
      move { core, now in core.machine.networkReturned(now: now) }
    }
  }

  // MARK: Pump

  /// The next instruction; `nil` when the engine has stopped.
  private func nextInstruction() -> Instruction? {
    let now = clock.now()
    let (instruction, transitions) = core.withLock { core -> (Instruction?, [Transition]) in
      if core.isStopped { return (nil, []) }
      let instruction = core.next(now: now)
      return (instruction, core.machine.takeTransitions())
    }
    trace(transitions)
    signalStatus()
    return instruction
  }

  private func pump() async {
    var lastWait: SyncStatus.Wait?
    var wakeups = wakeup.stream.makeAsyncIterator()
    while let instruction = nextInstruction() {
      switch instruction {
      case .deliver(let event): await deliver(event)
      case .askForBatch(let context): await askForBatch(context)
      case .askForFetchOptions(let context): await askForFetchOptions(context)
      case .send(let request): carry(request)
      case .abandon(let token):
        core.withLock { $0.requests.removeValue(forKey: token) }?.cancel()
      case .finish(let waiters, let outcome): finish(waiters, outcome)
      case .wait(let deadline):
        traceWait(deadline, &lastWait)
        setTimer(deadline)
        await wakeups.next()
      }
    }
  }

  private func setTimer(_ deadline: Moment?) {
    core.withLock { core in
      if let timer = core.timer {
        if timer.deadline == deadline { return }
        timer.task.cancel()
        core.timer = nil
      }
      guard let deadline, !core.isStopped else { return }
      let task = spawn { [self] in
        guard (try? await clock.sleep(deadline)) != nil else { return }
        self.core.withLock { if $0.timer?.deadline == deadline { $0.timer = nil } }
        wakeup.continuation.yield()
      }
      core.timer = (deadline, task)
    }
  }

  private func carry(_ request: OutgoingRequest) {
    let call = CloudCall(
      container: database.connection.container, environment: database.connection.environment,
      database: database.databaseScope.value, expectedUser: request.expectedUser,
      requestID: request.requestID, request: request.request)
    trace(request)
    let start = traceStart
    core.withLock { core in
      guard !core.isStopped else { return }
      core.requests[request.token] = spawn { [self] in
        let answer: Result<CloudReply, CloudError>
        do throws(CloudError) {
          answer = .success(try await transport.send(call))
        } catch {
          answer = .failure(error)
        }
        trace(answer, to: request, since: start)
        let jitter = clock.jitter()
        move { core, now in
          core.requests[request.token] = nil
          core.machine.received(answer, for: request.token, now: now, jitter: jitter)
        }
      }
    }
  }

  private func finish(_ waiters: [Waiter], _ outcome: OperationOutcome) {
    if !waiters.isEmpty {
      trace { time in
        var entry = SyncTraceEntry(time: time, kind: .operation, name: "finished")
        if case .failure(let failure) = outcome { entry.error = "\(failure.error.code)" }
        return entry
      }
    }
    let (continuations, records) = core.withLock { core in
      // A call may also end while the operation of another one is running.
      defer { if !core.machine.stage.isSend { core.failedRecords = [:] } }
      let continuations = waiters.compactMap { waiter in
        core.fetchOptions[waiter.number] = nil
        core.sendOptions[waiter.number] = nil
        return core.waiters.removeValue(forKey: waiter)
      }
      return (continuations, core.failedRecords)
    }
    guard !continuations.isEmpty else { return }
    let result: Result<Void, CKError> =
      switch outcome {
      case .success: .success(())
      case .failure(let failure): .failure(CKError(failure, clientRecords: records))
      }
    for continuation in continuations { continuation.resume(returning: result) }
  }

  // MARK: Delegate

  /// The delegate and the engine.
  ///
  /// If one of them was deallocated, all work ends and the result is `nil`, since a page without a
  /// recipient must not advance a token.
  private func app() -> (delegate: any CKSyncEngineDelegate, engine: CKSyncEngine)? {
    if let delegate = delegate.value, let engine = engine.withLock({ $0.value }) {
      return (interposed ?? delegate, engine)
    }
    stop()
    return nil
  }

  private func deliver(_ event: SyncEvent) async {
    guard let app = app() else { return }
    let start = traceStart
    let publicEvent = core.withLock { $0.converted(event) }
    await CallbackMark.run { await app.delegate.handleEvent(publicEvent, syncEngine: app.engine) }
    if start != nil {
      let (name, counts) = event.traced
      trace(.event, name, counts, since: start)
    }
    if case .didSendChanges = event { dropListings() }
    move { core, _ in
      // The options of ticket 0 are those of scheduled operations.
      if case .didFetchChanges = event { core.fetchOptions[0] = nil }
      if case .didSendChanges = event {
        core.sendOptions[0] = nil
        core.batch = []
      }
      core.machine.delivered()
    }
  }

  private func askForBatch(_ context: SendContext) async {
    guard let app = app() else { return }
    let start = traceStart
    let publicContext = core.withLock { $0.converted(context) }
    let question = BatchQuestion(self, scope: context.scope)
    let batch = await CallbackMark.run(question) {
      await app.delegate.nextRecordZoneChangeBatch(publicContext, syncEngine: app.engine)
    }
    let converted = EngineDriver.converted(batch)
    trace(
      .question, "nextRecordZoneChangeBatch",
      ["save": converted?.saves.count ?? 0, "delete": converted?.deletions.count ?? 0],
      since: start)
    let shown = question.shown(for: converted)
    move { core, now in
      core.batch = Array(zip(batch?.recordsToSave ?? [], converted?.saves ?? []))
      core.machine.provided(batch: converted, shown: shown, now: now)
    }
  }

  private func askForFetchOptions(_ context: FetchContext) async {
    guard let app = app() else { return }
    let start = traceStart
    let publicContext = core.withLock { $0.converted(context) }
    let options = await CallbackMark.run {
      await app.delegate.nextFetchChangesOptions(publicContext, syncEngine: app.engine)
    }
    trace(.question, "nextFetchChangesOptions", [:], since: start)
    move { core, _ in
      core.machine.provided(options: options.machineOptions)
    }
  }
}
