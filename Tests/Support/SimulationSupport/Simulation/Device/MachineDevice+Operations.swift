import Records
import SyncMachine

/// The manual operations of the app.
extension MachineDevice {
  /// A new waiter for an operation.
  func newWaiter() -> Waiter {
    lastWaiter += 1
    openWaiters.insert(lastWaiter)
    return Waiter(number: lastWaiter)
  }

  /// Calls the machine, if it runs.
  ///
  /// - Parameter mayInterrupt: Whether it may cancel an operation, whose answer is then ignored.
  func tell(mayInterrupt: Bool = false, _ call: (inout SyncMachine?) -> Void) {
    call(&machine)
    if mayInterrupt, let stage = machine?.stage, stage == .closingFetch || stage == .closingSend {
      currentRequest = nil
    }
    moved()
  }

  /// Calls the machine, which must deliver nothing while the app is busy.
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

  var summary: String {
    guard let machine else { return "is off" }
    let pending = machine.state.records.count + machine.state.zones.count
    return "\(machine.stage) pending \(pending): \(lastInstruction.summary)"
  }
}
