import CloudProtocol
import SyncMachine
import Synchronization

/// Calls by the app that wait for an operation.
extension EngineDriver {
  /// Waits for a manual operation that `begin` requests from the machine.
  ///
  /// When the calling task is cancelled, the wait ends and the operation continues: its events
  /// remain paired, and other waiting calls receive its outcome. An operation that has not begun,
  /// and that no other call waits for, is withdrawn.
  /// - Parameter endsWithTask: Whether the wait ends when the task is cancelled.
  func perform(
    endsWithTask: Bool = true,
    _ begin: @Sendable (inout Core, _ waiter: Waiter, _ now: Moment) -> Void
  ) async -> Result<Void, CKError> {
    let waiter = core.withLock { core in
      core.lastTicket += 1
      return Waiter(number: core.lastTicket)
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let refusal = move { core, now -> CloudError? in
          if core.isStopped { return .engineIsGone }
          // The flag is set before the handler runs, so that one of the two sees the other.
          if endsWithTask, Task.isCancelled { return .callerWasCancelled }
          core.waiters[waiter] = continuation
          begin(&core, waiter, now)
          return nil
        }
        if let refusal { continuation.resume(returning: .failure(CKError(refusal))) }
      }
    } onCancel: {
      if endsWithTask { giveUp(waiter) }
    }
  }

  /// Ends the wait of a call whose task was cancelled.
  private func giveUp(_ waiter: Waiter) {
    let continuation = move { core, _ in
      core.machine.withdraw(waiter)
      return core.waiters.removeValue(forKey: waiter)
    }
    continuation?.resume(returning: .failure(CKError(.callerWasCancelled)))
  }
}

extension CloudError {
  fileprivate static let engineIsGone = CloudError(
    .operationCancelled, "The sync engine or its delegate was deallocated.")

  fileprivate static let callerWasCancelled = CloudError(
    .operationCancelled,
    "The task that asked for the operation was cancelled. An operation that has begun goes on; to "
      + "end it, call cancelOperations().")
}
