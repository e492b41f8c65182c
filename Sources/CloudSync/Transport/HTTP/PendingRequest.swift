import Synchronization

/// A request that waits for its response.
///
/// The first outcome is final; later ones are ignored.
///
/// The task that made the request awaits `outcome()`. The thread that performs it calls
/// `setInterrupt(_:)` before it blocks, `clearInterrupt()` after, and `finish(_:)` with the result.
final class PendingRequest<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, any Error>

  private struct State {
    var outcome: Outcome?
    var waiter: CheckedContinuation<Outcome, Never>?
    var interrupt: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Whether the outcome is known.
  var isFinished: Bool { state.withLock { $0.outcome != nil } }

  /// Sets the outcome, unless there is one already, and resumes the waiting task.
  func finish(_ outcome: Outcome) {
    let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      return state.waiter.take()
    }
    waiter?.resume(returning: outcome)
  }

  /// Finishes the request with `CancellationError` and interrupts the thread that performs it.
  func cancel() {
    let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = .failure(CancellationError())
      // Under the lock, so that a descriptor that was released meanwhile is never interrupted.
      state.interrupt?()
      return state.waiter.take()
    }
    waiter?.resume(returning: .failure(CancellationError()))
  }

  /// Registers the action that interrupts the performing thread; returns `false` when the request
  /// has already finished.
  func setInterrupt(_ interrupt: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.interrupt = interrupt
      return true
    }
  }

  /// Removes the interrupt action.
  func clearInterrupt() { state.withLock { $0.interrupt = nil } }

  /// Waits for the outcome.
  ///
  /// Cancelling the waiting task cancels the request.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
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
