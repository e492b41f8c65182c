import Foundation

// The face's only tasks and queues. The tasks are detached, so that what a completion handler or
// an observer does is never taken for a part of a delegate's callback that happened to make the
// call. Handlers run on queues and not on the tasks' threads: there are few of those, and
// handlers of apps may wait.

/// Calls an app's handlers one at a time, away from the main thread.
///
/// The handlers find the environment in force where the queue was made, so that containers that
/// they make are reached as the ones of the code around them.
final class CallbackQueue: Sendable {
  private let queue = DispatchQueue(label: "swift-cloud-sync.callbacks", qos: .userInitiated)
  private let environment = CloudSyncEnvironment.current

  /// Calls `body` after what was asked before, and returns when it did.
  func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: CloudSyncEnvironment.$current.withValue(self.environment, operation: body))
      }
    }
  }
}

/// Runs the work of an operation.
func beginWork(
  urgency: QualityOfService, _ work: @escaping @Sendable () async -> Void
) -> Task<Void, Never> {
  Task.detached(
    executorPreference: CloudSyncEnvironment.inForce.taskExecutor, priority: TaskPriority(urgency)
  ) {
    await work()
  }
}

/// Runs `body` in a task and tells a completion handler of the older kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Value?, (any Error)?) -> Void,
  urgency: QualityOfService = .userInitiated,
  _ body: @escaping @Sendable () async throws -> Value
) {
  answer(
    { (result: Result<Value, any Error>) in
      switch result {
      case .success(let value): completionHandler(value, nil)
      case .failure(let error): completionHandler(nil, error)
      }
    }, urgency: urgency, body)
}

/// Runs `body` in a task and tells a completion handler of the newer kind how it went.
func answer<Value: Sendable>(
  _ completionHandler: @escaping @Sendable (Result<Value, any Error>) -> Void,
  urgency: QualityOfService = .userInitiated,
  _ body: @escaping @Sendable () async throws -> Value
) {
  let callbacks = CallbackQueue()
  Task.detached(
    executorPreference: CloudSyncEnvironment.inForce.taskExecutor, priority: TaskPriority(urgency)
  ) {
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    await callbacks.call { completionHandler(result) }
  }
}

/// Posts `.CKAccountChanged`, away from the thread of the transport that told.
func postAccountChange(in environment: CloudSyncEnvironment) {
  Task.detached(executorPreference: environment.taskExecutor, priority: .userInitiated) {
    environment.notificationCenter.post(name: .CKAccountChanged, object: nil)
  }
}

extension TaskPriority {
  /// The priority of a task that works for somebody with this patience.
  fileprivate init(_ urgency: QualityOfService) {
    switch urgency {
    case .userInteractive, .userInitiated: self = .userInitiated
    case .utility: self = .utility
    case .background: self = .background
    default: self = .medium
    }
  }
}
