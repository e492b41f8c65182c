import Dispatch

/// The one queue that a server's sockets and state belong to, as the executor of its actor.
///
/// This is the only file of the driver that starts anything by itself: the queue, the sources that
/// watch the sockets, and the tasks of handlers.
final class HTTPEventLoop: SerialExecutor {
  private let queue = DispatchQueue(label: "LoopbackHTTP")
  private let handlers = HandlerThreads()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Calls `work` on the queue, after what waits there already.
  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Calls `event` whenever there is something to read, a connection to accept, or the end.
  func watchReading(
    _ descriptor: Int32, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) -> HTTPReadiness {
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    return HTTPReadiness(source, event: event, released: released)
  }

  /// Calls `event` whenever something can be written.
  func watchWriting(
    _ descriptor: Int32, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) -> HTTPReadiness {
    let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
    return HTTPReadiness(source, event: event, released: released)
  }

  /// Runs `work` beside the queue, and beside the process's other tasks: clients in this process
  /// that keep those threads busy, or block them, are answered all the same.
  func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task.detached(executorPreference: handlers) { await work() }
  }
}

/// Threads for the tasks of handlers.
private final class HandlerThreads: TaskExecutor {
  private let queue = DispatchQueue(label: "LoopbackHTTP.handlers", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }
}
