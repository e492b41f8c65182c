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
struct QueuedOperation: Sendable {
  enum Kind: Sendable {
    case fetch(FetchContext)
    case send(SendContext)
  }

  var kind: Kind
  /// The calls for the operation.
  var waiters: [Waiter]
  /// Those of them that do not wait any more.
  var withdrawn: Set<Waiter> = []
}
