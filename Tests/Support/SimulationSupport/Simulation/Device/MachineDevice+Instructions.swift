import CloudProtocol
import Records
import SyncMachine

/// Carrying out the machine's instructions, one a step.
extension MachineDevice {
  /// One step: the app returns from what it is busy with, or the machine is asked what to do.
  ///
  /// - Returns: A request to send, if there is one.
  func step(
    at now: Int, _ journal: WorldJournal, _ random: inout SeededRandom
  ) -> OutgoingRequest? {
    if let callback {
      finish(callback, at: now)
      return nil
    }
    guard machine != nil else { return nil }
    isRunnable = true
    wakeAt = nil
    let pending = fault.bug == .keepPendingAfterSwitch ? machine?.state.records.pending ?? [] : []
    let instruction = nextInstruction(at: now)
    if case .deliver(.accountChange) = instruction {
      machine?.add(pending, now: Moment(.milliseconds(now)))
    }
    moved()
    journal.mix(instruction.summary)
    lastInstruction = instruction
    switch instruction {
    case .deliver(let event): deliver(event, at: now, journal.lastSequence, &random)
    case .askForBatch(let context):
      var batch: RecordBatch?
      let waiting = machine?.state.records.pending ?? []
      checker.noteBuilding()
      withApp(at: now) { batch = $0.nextBatch(context, waiting: waiting) }
      callback = .batch(batch, addedSince: [])
    case .askForFetchOptions(let context):
      callback = .options(options(for: context, &random))
    case .send(let request):
      currentRequest = request.token.number
      switch request.request {
      case .modifyZones(let zones):
        if let fault = checker.pendingChanges.fault(sending: zones) {
          findings.report("I16", "\(name): \(fault)")
        }
        checker.pendingChanges.note(sending: zones)
      case .modifyRecords(let records): report([checker.fault(sending: records)].compactMap { $0 })
      default: break
      }
      return request
    case .abandon(let token):
      if currentRequest == token.number { currentRequest = nil }
    case .finish(let waiters, _):
      for waiter in waiters where openWaiters.remove(waiter.number) == nil {
        findings.report("I14", "\(name): an operation ends twice for one who waits")
      }
    case .wait(let deadline): rest(until: deadline, at: now)
    }
    return nil
  }

  /// The machine's next instruction, after its writes; the result of a write is an input.
  private func nextInstruction(at now: Int) -> Instruction {
    while true {
      let instruction = machine?.next(now: Moment(.milliseconds(now))) ?? .wait(until: nil)
      guard keepWrites(), case .wait = instruction else { return instruction }
    }
  }

  private func rest(until deadline: Moment?, at now: Int) {
    isRunnable = false
    wakeAt = deadline.map { moment in
      let (seconds, attoseconds) = moment.sinceStart.components
      return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
    if let wakeAt, wakeAt <= now {
      findings.report("I17", "\(name): wants to be woken at a moment that has passed")
    }
    guard let stage = machine?.stage else { return }
    machine?.remove(fault.takeForgotten(), now: Moment(.milliseconds(now)))
    if stage == .idle || stage == .dormant { checkPendingChanges() }
  }

  private func deliver(
    _ event: SyncEvent, at now: Int, _ lastSequence: Int, _ random: inout SeededRandom
  ) {
    callback = .event
    switch event {
    case .accountChange, .sentRecordChanges:
      // The log has the account, and the zones that were written to, before the app receives it.
      durableLog = log.count
    default: break
    }
    if let state = machine?.state {
      report(
        checker.faults(of: event, with: state, owner: app.owner, lastSequence: lastSequence))
      checker.note(event)
      if case .accountChange = event,
        let fault = checker.pendingChanges.recordDifference(from: state)
      {
        findings.report("I13", "\(name): after a change of account, \(fault)")
      }
    }
    if case .sentRecordChanges(let sent) = event { fault.note(sent: sent) }
    appBeforeEvent = app
    withApp(at: now) { $0.handle(event) }
    switch event {
    case .stateUpdate: keep(&random)
    case .accountChange where persistence == .dataFirst:
      // A state that knows more than the data, which were just dropped, must never come back.
      kept.removeAll()
    case .accountChange, .willFetchChanges, .fetchedDatabaseChanges, .willFetchZoneChanges,
      .fetchedZoneChanges, .didFetchZoneChanges, .didFetchChanges, .willSendChanges,
      .sentDatabaseChanges, .sentRecordChanges, .didSendChanges:
      break
    }
  }

  private func finish(_ callback: Callback, at now: Int) {
    self.callback = nil
    appBeforeEvent = nil
    let moment = Moment(.milliseconds(now))
    switch callback {
    case .event:
      checker.noteReturn()
      fault.noteReturn()
      machine?.delivered()
    case .batch(let batch, let added):
      if let batch, machine?.stage == .askingBatch {
        checker.note(given: batch, addedSince: added)
      }
      machine?.provided(batch: batch, now: moment)
    case .options(let options): machine?.provided(options: options)
    }
    moved()
  }

  private func options(
    for context: FetchContext, _ random: inout SeededRandom
  ) -> FetchOptions {
    var options = context.options
    guard random.chance(scopeRate) else { return options }
    let zone = random.pick(layout.zones)
    switch random.below(4) {
    case 0: options.scope = .zones([zone])
    case 1: options.scope = .allExcluding([zone])
    case 2: options.scope = .all
    default: options.prioritizedZones = [zone]
    }
    return options
  }

  /// Delivers an answer to the run that sent the request.
  func receive(
    _ answer: Result<CloudReply, CloudError>, for request: UInt64, at now: Int,
    _ random: inout SeededRandom
  ) {
    guard machine != nil else { return }
    if currentRequest == request {
      currentRequest = nil
      retryChecker.note(answer, at: now)
      if case .success(let reply) = answer {
        checker.note(arrived: reply)
        fault.note(arrived: reply)
      }
    }
    machine?.received(
      answer, for: RequestToken(number: request), now: Moment(.milliseconds(now)),
      jitter: random.fraction())
    moved()
  }
}
