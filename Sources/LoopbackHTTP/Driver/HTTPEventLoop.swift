import Dispatch

/// The one thread that a server's sockets and state belong to, as the executor of its actor.
///
/// This is the only file of the driver that starts anything by itself: the thread, which is a queue
/// with one endless piece of work, and the tasks of handlers.
final class HTTPEventLoop: SerialExecutor {
  private let queue = DispatchQueue(label: "LoopbackHTTP")
  private let handlers = HandlerThreads()
  private let poller = HTTPPoller()

  init() { queue.async { [poller] in poller.run() } }

  deinit { poller.end() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    poller.execute { job.runSynchronously(on: executor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Calls `work` on the thread, after what waits there already.
  func execute(_ work: @escaping @Sendable () -> Void) { poller.execute(work) }

  /// Calls `event` whenever there is something to read, a connection to accept, or the end.
  func watchReading(
    _ descriptor: Int32, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) -> HTTPReadiness {
    HTTPReadiness(poller, descriptor, writing: false, event: event, released: released)
  }

  /// Calls `event` whenever something can be written.
  func watchWriting(
    _ descriptor: Int32, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) -> HTTPReadiness {
    HTTPReadiness(poller, descriptor, writing: true, event: event, released: released)
  }

  /// Runs `work` beside the thread, and beside the process's other tasks: clients in this process
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
