import Records
import SyncMachine

/// The manual operations of the app.
extension WorldDevice {
  /// A new waiter for an operation.
  func newWaiter() -> Waiter {
    lastWaiter += 1
    openWaiters.insert(lastWaiter)
    return Waiter(number: lastWaiter)
  }

  func fetch(scope: FetchScope) {
    let context = FetchContext(reason: .manual, options: FetchOptions(scope: scope))
    let waiter = newWaiter()
    machine?.fetch(context, waiter: waiter)
    moved()
  }

  func send(scope: SendScope) {
    let waiter = newWaiter()
    machine?.send(SendContext(reason: .manual, scope: scope), waiter: waiter)
    moved()
  }

  /// An operation may have been cancelled: its answer is ignored.
  func noteInterruption() {
    if let stage = machine?.stage, stage == .closingFetch || stage == .closingSend {
      currentRequest = nil
    }
  }

  /// Calls the machine while the app handles an event: it must deliver nothing.
  func poke(at now: Int) {
    guard callback != nil else { return }
    switch machine?.next(now: Moment(.milliseconds(now))) {
    case .wait, nil: break
    case .abandon(let token):
      if currentRequest == token.number { currentRequest = nil }
    case .deliver, .askForBatch, .askForFetchOptions, .send, .finish:
      findings.report("I14", "\(name): something new while the app is busy")
    }
    moved()
  }

  /// The state of the device, for the trace.
  var summary: String {
    guard let machine else { return "is off" }
    let pending = machine.state.records.count + machine.state.zones.count
    return "\(machine.stage) pending \(pending): \(lastInstruction.summary)"
  }
}
