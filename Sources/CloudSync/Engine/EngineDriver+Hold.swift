import CloudProtocol
import SyncMachine
import Synchronization

/// Holds an account change back until the state store has stored it.
///
/// The app deletes the data of the old account when it handles the change. If the store still had
/// the earlier state, an engine would continue with the old account's tokens after a restart: the
/// app would neither receive that data again nor the account change.
extension EngineDriver {
  /// The failed attempts to store an account change.
  struct Hold {
    /// The error of the store.
    var error: any Error
    /// The moment of the next attempt.
    var retryAt: Moment
    /// The number of attempts.
    var attempts: Int
  }

  /// The error with which operations fail at present; `nil` if they don't.
  var holdError: (any Error)? { core.withLock { $0.hold?.error } }

  /// Fails the waiting calls, since their operations can't begin now.
  func refuseWhileHeld() {
    let continuations = core.withLock { core -> [CheckedContinuation<OperationOutcome, Never>] in
      guard core.hold != nil, !core.waiters.isEmpty else { return [] }
      core.machine.withdrawQueue()
      let waiting = core.waiters.sorted { $0.key.number < $1.key.number }.map(\.value)
      core.waiters = [:]
      core.fetchOptions = [:]
      core.sendOptions = [:]
      return waiting
    }
    let error = CloudError(
      .internalError, "The state store takes nothing; see the sync engine's stateStoreError.")
    for continuation in continuations {
      continuation.resume(returning: .failure(OperationFailure(error)))
    }
  }
}

extension EngineDriver.Core {
  /// The machine's next instruction, after its state changes were stored.
  mutating func next(now: Moment) -> Instruction {
    guard journal != nil, machine.isAboutToReportAccount else {
      let instruction = machine.next(now: now)
      store()
      return instruction
    }
    if let hold, journal?.error != nil, now < hold.retryAt { return .wait(until: hold.retryAt) }
    if journal?.error != nil { journal?.recover(with: machine.state) }
    if let error = journal?.error { return holdBack(now, error) }
    let before = machine
    let instruction = machine.next(now: now)
    store()
    if let error = journal?.error {
      machine = before
      return holdBack(now, error)
    }
    hold = nil
    return instruction
  }

  private mutating func store() {
    let changes = machine.takeJournal()
    if !changes.isEmpty { journal?.append(changes, of: machine.state) }
  }

  private mutating func holdBack(_ now: Moment, _ error: any Error) -> Instruction {
    let attempts = (hold?.attempts ?? 0) + 1
    let retryAt = now + .seconds(1 << min(attempts, 6))
    hold = EngineDriver.Hold(error: error, retryAt: retryAt, attempts: attempts)
    return .wait(until: retryAt)
  }
}
