/// The calls of the app that wait.
struct ManualCalls: Sendable {
  /// The operations that wait until no other operation is running, in the order of the calls.
  var queued: [QueuedOperation] = []
  /// The callers that wait until the running operation is cancelled.
  var cancelling: [Waiter] = []
  /// The ended calls that were not reported to the driver yet.
  var finished: [(waiters: [Waiter], outcome: OperationOutcome)] = []
}

/// A manual operation that waits for its turn.
enum QueuedOperation: Sendable {
  case fetch(FetchContext, [Waiter])
  case send(SendContext, [Waiter])

  /// The calls that wait for the operation.
  var waiters: [Waiter] {
    switch self {
    case .fetch(_, let waiters), .send(_, let waiters): waiters
    }
  }
}
