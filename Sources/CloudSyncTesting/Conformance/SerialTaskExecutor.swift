import Dispatch
import Synchronization

/// Runs the tasks of one scenario one after the other, in the order in which they become ready.
///
/// The order of an app's steps therefore does not depend on the threads of the process. Tasks that
/// an app starts without the executor of its caller run beside it.
package final class SerialTaskExecutor: TaskExecutor {
  private struct Contents {
    var jobCount = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let queue = DispatchQueue(label: "cloudsync.conformance")
  private let contents = Mutex(Contents())

  /// Creates an executor without tasks.
  package init() {}

  /// Adds a job, which runs after all earlier ones.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    contents.withLock { $0.jobCount += 1 }
    queue.async { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
      let waiters = contents.withLock { contents in
        contents.jobCount -= 1
        guard contents.jobCount == 0 else { return [CheckedContinuation<Void, Never>]() }
        defer { contents.waiters = [] }
        return contents.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  /// Starts a task of the executor.
  func start(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
    Task(executorPreference: self, operation: body)
  }

  /// Suspends until no task of the executor is ready to run or running; a task that calls it does
  /// not count.
  func settle() async {
    await withCheckedContinuation { waiter in
      let isSettled = contents.withLock { contents in
        if contents.jobCount > 0 { contents.waiters.append(waiter) }
        return contents.jobCount == 0
      }
      if isSettled { waiter.resume() }
    }
  }
}
