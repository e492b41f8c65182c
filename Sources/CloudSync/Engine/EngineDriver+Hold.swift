import CloudProtocol
import SyncMachine
import Synchronization

/// Nobody is told of an account that the state store does not have.
///
/// The app drops the data of an account that it is told to have left. A state from before that
/// would go on with this account's tokens after a restart: the app would never get its data back,
/// and never hear who is signed in.
extension EngineDriver {
  /// How long the store has refused an account.
  struct Hold {
    /// What the store said.
    var error: any Error
    /// When it is tried again.
    var retryAt: Moment
    /// How many times it was tried.
    var attempts: Int
  }

  /// Why operations are refused at present; `nil` when they are not.
  var holdError: (any Error)? { core.withLock { $0.hold?.error } }

  /// Ends the wait of those who asked for an operation that can't begin now.
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
  /// The machine's next instruction, with everything it decided in the store.
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
