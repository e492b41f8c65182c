import Dispatch
import Foundation

/// The thread that owns a server's sockets and state; the executor of the server's actor.
///
/// This is the only file of the driver that starts concurrent work: the thread and the tasks of
/// handlers. The thread does not belong to a queue: a process has 255 threads for its queues, and
/// all of them stand still when none is left.
final class HTTPEventLoop: SerialExecutor {
  /// The thread, which runs as long as the loop.
  private let threadID: ObjectIdentifier
  private let handlers = HandlerThreads()
  private let poller = HTTPPoller()

  init() {
    let thread = Thread { [poller] in poller.run() }
    threadID = ObjectIdentifier(thread)
    thread.name = "LoopbackHTTP"
    thread.start()
  }

  deinit { poller.end() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    poller.execute { job.runSynchronously(on: executor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() {
    precondition(ObjectIdentifier(Thread.current) == threadID, "this is not the server's thread")
  }

  /// Runs `work` on the thread, after the work that is already queued.
  func execute(_ work: @escaping @Sendable () -> Void) { poller.execute(work) }

  /// Calls `event` whenever the socket is writable, or whenever there is input, a connection to
  /// accept, or the end of input.
  func watch(
    _ descriptor: Int32, writing: Bool = false, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) -> HTTPReadiness {
    HTTPReadiness(poller, descriptor, writing: writing, event: event, released: released)
  }

  /// Runs `work` on separate threads.
  ///
  /// Clients in this process that block the shared thread pool still get responses.
  func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task.detached(executorPreference: handlers) { await work() }
  }
}

/// The thread pool for the tasks of handlers.
private final class HandlerThreads: TaskExecutor {
  private let queue = DispatchQueue(label: "LoopbackHTTP.handlers", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }
}
