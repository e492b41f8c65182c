import CloudProtocol
import Records
import SyncMachine

/// Carrying out the machine's instructions, one a step.
extension WorldDevice {
  /// What a step of the device asks of the world.
  enum Outcome {
    case nothing
    case send(OutgoingRequest)
  }

  /// One step: the app returns from what it is busy with, or the machine is asked what to do.
  func step(at now: Int, _ random: inout SeededRandom, _ trace: inout TraceHash) -> Outcome {
    if let callback {
      finish(callback, at: now)
      return .nothing
    }
    guard machine != nil else { return .nothing }
    isRunnable = true
    wakeAt = nil
    let instruction = nextInstruction(at: now)
    moved()
    trace.mix(instruction)
    lastInstruction = instruction
    switch instruction {
    case .deliver(let event): deliver(event, at: now, &random)
    case .askForBatch(let context):
      var batch: RecordBatch?
      let waiting = machine?.state.records.waiting ?? []
      withApp(at: now) { batch = $0.nextBatch(context, waiting: waiting) }
      callback = .batch(batch, addedSince: [])
    case .askForFetchOptions(let context):
      callback = .options(options(for: context, &random))
    case .send(let request):
      if let fault = patience.faultOfRequest(at: now) {
        findings.report("I16", "\(name): \(fault)")
      }
      if let fault = patience.faultOfRate(at: now) { findings.report("I16", "\(name): \(fault)") }
      currentRequest = request.token.number
      if case .modifyZones(let zones) = request.request { ledger.note(sending: zones) }
      return .send(request)
    case .abandon(let token):
      if currentRequest == token.number { currentRequest = nil }
    case .finish(let waiters, _):
      for waiter in waiters where openWaiters.remove(waiter.number) == nil {
        findings.report("I14", "\(name): an operation ends twice for one who waits")
      }
    case .wait(let deadline): rest(until: deadline, at: now)
    }
    return .nothing
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
    if stage == .idle || stage == .dormant { compareLedger() }
  }

  private func deliver(_ event: SyncEvent, at now: Int, _ random: inout SeededRandom) {
    callback = .event
    switch event {
    case .accountChange, .sentRecordChanges:
      // The log has the account, and the zones that were written to, before the app hears of it.
      durableLog = log.count
    default: break
    }
    if let fault = order.fault(event) { findings.report("I14", "\(name): \(fault)") }
    if let fault = tokens.fault(giving: event) { findings.report("I10", "\(name): \(fault)") }
    checkOwner(of: event)
    switch event {
    case .sentRecordChanges(let sent): ledger.note(told: sent)
    case .sentDatabaseChanges(let sent): ledger.note(told: sent)
    case .didSendChanges: ledger.noteEndOfSend()
    case .accountChange(.signOut), .accountChange(.switchAccounts):
      ledger.clear()
      if let machine, ledger.difference(from: machine.state) != nil {
        findings.report("I13", "\(name): changes of the old account are pending for the new one")
      }
    case .stateUpdate, .accountChange(.signIn), .willFetchChanges, .fetchedDatabaseChanges,
      .willFetchZoneChanges, .fetchedZoneChanges, .didFetchZoneChanges, .didFetchChanges,
      .willSendChanges:
      break
    }
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

  /// I13: nothing of another account is given to the app.
  private func checkOwner(of event: SyncEvent) {
    let records: [Record]
    switch event {
    case .fetchedZoneChanges(let modified, _): records = modified
    case .sentRecordChanges(let sent):
      records = sent.saved.compactMap { $0.value ?? $0.error?.serverRecord }
    case .stateUpdate, .accountChange, .willFetchChanges, .fetchedDatabaseChanges,
      .willFetchZoneChanges, .didFetchZoneChanges, .didFetchChanges, .willSendChanges,
      .sentDatabaseChanges, .didSendChanges:
      return
    }
    let owner = app.owner.flatMap { layout.account(of: $0) }
    for record in records {
      guard let place = layout.place(of: record.id),
        let value = SimulatedValue(record, at: place)
      else {
        findings.report("I13", "\(name): a record that nobody wrote: \(record.id.name)")
        continue
      }
      if value.account != 0, value.account != owner {
        findings.report(
          "I13",
          "\(name): edit \(value.sequence) of account \(value.account) is given to "
            + "\(owner.map { "account \($0)" } ?? "nobody")")
      }
    }
  }

  private func finish(_ callback: Callback, at now: Int) {
    self.callback = nil
    appBeforeEvent = nil
    let moment = Moment(.milliseconds(now))
    switch callback {
    case .event:
      tokens.noteReturn()
      machine?.delivered()
    case .batch(let batch, let added):
      if let batch, machine?.stage == .askingBatch {
        ledger.note(given: batch, addedSince: added)
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

  /// An answer to the run that asked.
  func receive(
    _ answer: Result<CloudReply, CloudError>, for request: UInt64, at now: Int,
    _ random: inout SeededRandom
  ) {
    guard machine != nil else { return }
    if currentRequest == request {
      currentRequest = nil
      patience.note(answer, at: now)
      if case .success(let reply) = answer { tokens.note(arrived: reply) }
    }
    machine?.received(
      answer, for: RequestToken(number: request), now: Moment(.milliseconds(now)),
      jitter: random.fraction())
    moved()
  }
}
