import Synchronization

/// A request that is on its way: the first end that it comes to is the one that counts.
final class Flight<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, any Error>

  private struct State {
    var outcome: Outcome?
    var waiter: CheckedContinuation<Outcome, Never>?
    var interrupt: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Whether nobody waits for it any more.
  var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Comes to an end, unless it has already; whoever waits goes on.
  func end(_ outcome: Outcome) {
    let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      return state.waiter.take()
    }
    waiter?.resume(returning: outcome)
  }

  /// Gives the request up: it ends, and what carries it is told to stop.
  func giveUp() {
    let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = .failure(CancellationError())
      // Under the lock, so that nothing is stopped that was let go meanwhile.
      state.interrupt?()
      return state.waiter.take()
    }
    waiter?.resume(returning: .failure(CancellationError()))
  }

  /// Notes how it is stopped while it is carried; false when it is over already.
  func carry(_ interrupt: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.interrupt = interrupt
      return true
    }
  }

  /// Whoever carried it lets go: from here on there is nothing to stop.
  func letGo() { state.withLock { $0.interrupt = nil } }

  /// Waits for the end; whoever's task is cancelled gives it up.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      giveUp()
    }
  }

  private func wait(_ waiter: CheckedContinuation<Outcome, Never>) {
    let outcome = state.withLock { state -> Outcome? in
      if state.outcome == nil { state.waiter = waiter }
      return state.outcome
    }
    if let outcome { waiter.resume(returning: outcome) }
  }
}
