import Foundation
import Synchronization

// The only tasks and queues of the CloudKit API. The tasks are detached, so that the work of a
// completion handler or an observer is never attributed to a delegate callback that made the call;
// that of `uncancelled` is not, because its caller waits for it.
// Handlers run on queues and not on the tasks' threads, which are few, since handlers may block.

/// Calls an app's handlers serially on a queue other than the main queue.
///
/// The handlers run with the environment that was current when the queue was created, so that they
/// create containers in the same environment.
final class CallbackQueue: Sendable {
  private let queue = DispatchQueue(label: "swift-cloud-sync.callbacks", qos: .userInitiated)
  private let environment = CloudSyncEnvironment.current

  /// Calls `body` after earlier calls and returns when it has returned.
  func call<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: CloudSyncEnvironment.$current.withValue(self.environment, operation: body))
      }
    }
  }
}

/// Runs the tasks of operations and completion handlers on threads of their own.
///
/// The threads of Swift's concurrency are as few as the cores. An app that waits for an operation
/// in a task blocks one, and must not keep the operation from its end. See CE-177.
private final class WorkExecutor: TaskExecutor {
  static let shared = WorkExecutor()

  /// The executor of the work of an operation or a completion handler; `nil` in other tasks.
  @TaskLocal static var current: (any TaskExecutor)?

  /// Serial queues: Dispatch gives each a thread, however many threads are blocked.
  private let queues = (0..<32).map { DispatchQueue(label: "CloudSync.work.\($0)") }
  private let jobCount = Atomic<UInt>(0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let number = jobCount.wrappingAdd(1, ordering: .relaxed).newValue
    queues[Int(number % UInt(queues.count))].async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}

extension CloudConnection {
  /// Begins the work of an operation or a completion handler.
  @discardableResult
  func beginWork(
    urgency: QualityOfService, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    let executor = taskExecutor ?? WorkExecutor.shared
    return Task.detached(executorPreference: executor, priority: TaskPriority(urgency)) {
      await WorkExecutor.$current.withValue(executor, operation: work)
    }
  }

  /// Runs `body` to its end, also if the task of the caller is cancelled.
  ///
  /// The server may have carried out a change already, which must not be reported as failed.
  /// Rule: CS-249.
  func uncancelled<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    // A task of its own does not take over the executor of the caller.
    try await Task(executorPreference: WorkExecutor.current ?? taskExecutor, operation: body).value
  }

  /// Runs `body` in a task and calls an older completion handler (value and error) with its result.
  func complete<Value: Sendable>(
    _ completionHandler: @escaping @Sendable (Value?, (any Error)?) -> Void,
    urgency: QualityOfService = .userInitiated,
    _ body: @escaping @Sendable () async throws -> Value
  ) {
    complete(completionHandler, onFailure: nil, urgency: urgency) { try await body() }
  }

  /// Runs `body` in a task and calls an older completion handler with its value, or with `value`
  /// and the error.
  func complete<Value: Sendable>(
    _ completionHandler: @escaping @Sendable (Value, (any Error)?) -> Void, onFailure value: Value,
    urgency: QualityOfService = .userInitiated,
    _ body: @escaping @Sendable () async throws -> Value
  ) {
    complete(
      { (result: Result<Value, any Error>) in
        switch result {
        case .success(let value): completionHandler(value, nil)
        case .failure(let error): completionHandler(value, error)
        }
      }, urgency: urgency, body)
  }

  /// Runs `body` in a task and calls a newer completion handler (`Result`) with its result.
  func complete<Value: Sendable>(
    _ completionHandler: @escaping @Sendable (Result<Value, any Error>) -> Void,
    urgency: QualityOfService = .userInitiated,
    _ body: @escaping @Sendable () async throws -> Value
  ) {
    let callbacks = CallbackQueue()
    beginWork(urgency: urgency) {
      let result: Result<Value, any Error>
      do {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
      await callbacks.call { completionHandler(result) }
    }
  }
}

/// Posts `.CKAccountChanged` from another thread than the transport's.
func postAccountChange(in environment: CloudSyncEnvironment) {
  Task.detached(executorPreference: environment.taskExecutor, priority: .userInitiated) {
    environment.notificationCenter.post(name: .CKAccountChanged, object: nil)
  }
}

extension TaskPriority {
  /// The task priority for this quality of service.
  fileprivate init(_ urgency: QualityOfService) {
    switch urgency {
    case .userInteractive, .userInitiated: self = .userInitiated
    case .utility: self = .utility
    case .background: self = .background
    default: self = .medium
    }
  }
}
