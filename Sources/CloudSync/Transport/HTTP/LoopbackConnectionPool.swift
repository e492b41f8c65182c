import Foundation
import Synchronization

/// Assigns requests to a limited number of connections, each with its own thread.
final class LoopbackConnectionPool: Sendable {
  private struct State {
    var queue: [LoopbackRequest] = []
    /// Idle threads.
    ///
    /// The most recently used is taken first, so that the others can time out.
    var idle: [IdleThread] = []
    var threads = 0
    var isClosed = false
  }

  /// A thread that waits for a request.
  private final class IdleThread: Sendable {
    let semaphore = DispatchSemaphore(value: 0)
    let request = Mutex<LoopbackRequest?>(nil)
  }

  private let maximumConnections: Int
  private let idleSeconds: Double
  let timeout: Int32
  private let state = Mutex(State())

  init(maximumConnections: Int, timeout: Int32, idleSeconds: Double) {
    self.maximumConnections = maximumConnections
    self.timeout = timeout
    self.idleSeconds = idleSeconds
  }

  /// Performs a request, immediately or as soon as a connection is free.
  func submit(_ request: LoopbackRequest) {
    let needsThread = state.withLock { state in
      if let idle = state.idle.popLast() {
        idle.request.withLock { $0 = request }
        idle.semaphore.signal()
        return false
      }
      state.queue.append(request)
      guard state.threads < maximumConnections else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    let thread = Thread { [self] in
      var connection = LoopbackConnection(timeout: timeout)
      while let request = next() { connection.perform(request) }
      connection.close()
    }
    thread.stackSize = 1 << 19
    thread.start()
  }

  /// The next request for the calling thread; `nil` when the thread should exit.
  private func next() -> LoopbackRequest? {
    let idle = IdleThread()
    let (request, isOver) = state.withLock { state -> (LoopbackRequest?, Bool) in
      if !state.queue.isEmpty { return (state.queue.removeFirst(), false) }
      if state.isClosed {
        state.threads -= 1
        return (nil, true)
      }
      state.idle.append(idle)
      return (nil, false)
    }
    if request != nil || isOver { return request }
    if idle.semaphore.wait(timeout: .now() + idleSeconds) == .timedOut {
      state.withLock { state in
        guard let index = state.idle.firstIndex(where: { $0 === idle }) else { return }
        state.idle.remove(at: index)
        state.threads -= 1
      }
    }
    // A thread that was signalled while it timed out still has its request.
    return idle.request.withLock { $0.take() }
  }

  /// Ends all idle threads.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      state.threads -= state.idle.count
      return state.idle
    }
    for idle in idle { idle.semaphore.signal() }
  }
}
