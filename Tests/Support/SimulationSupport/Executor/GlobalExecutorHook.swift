import Foundation

/// Redirects tasks that are created on the thread of a ``SeededExecutor`` to that executor.
///
/// The Swift runtime calls a hook before it enqueues a job on its own threads. This hook checks
/// whether the calling thread belongs to a ``SeededExecutor``. A job starts other jobs on its own
/// thread, so a world that starts on an executor stays there, without code for it in the product.
package enum GlobalExecutorHook {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  private static let executors: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the hook is set; it is set once for the whole process and stays.
  private static let isInstalled: Bool = {
    guard executors != nil,
      let place = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook")
    else { return false }
    place.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      guard let executor = GlobalExecutorHook.executor else { return original(job) }
      executor.catchEscaped(job)
    }
    return true
  }()

  /// Whether this is the thread of a seeded executor.
  package static var isOnSeededExecutor: Bool { executor != nil }

  /// The executor of this thread.
  private static var executor: SeededExecutor? {
    guard let executors, let pointer = pthread_getspecific(executors) else { return nil }
    return Unmanaged<SeededExecutor>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Runs `body` on this thread as the thread of `executor`.
  ///
  /// - Throws: ``ExecutorError`` when this runtime has no hook, as when it is linked statically.
  package static func with(_ executor: SeededExecutor, _ body: () -> Void) throws(ExecutorError) {
    guard isInstalled, let executors else { throw .hasNoHook }
    let before = pthread_getspecific(executors)
    guard pthread_setspecific(executors, Unmanaged.passUnretained(executor).toOpaque()) == 0 else {
      throw .hasNoHook
    }
    defer { pthread_setspecific(executors, before) }
    withExtendedLifetime(executor, body)
  }
}

/// The error of a runtime in which tasks can't be ordered.
package enum ExecutorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The Swift runtime of this process can't be asked to bring its jobs here.
  case hasNoHook

  /// One sentence for people.
  package var description: String {
    "this Swift runtime lets nobody order its tasks, so no world can be repeated; link the "
      + "standard library dynamically"
  }
}
