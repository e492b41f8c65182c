import Synchronization

/// Runs an operation for each request, never two at once.
///
/// Between ``start(_:)`` and ``close()``, requests during an operation lead to one more operation
/// after it. At other times a request has no effect. May be used from any thread.
public final class SyncLoop: Sendable {
  private struct State {
    var requests: AsyncStream<Void>.Continuation?
    var task: Task<Void, Never>?
    var timers: [String: Task<Void, Never>] = [:]
  }

  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  /// Creates a loop that does not run.
  ///
  /// - Parameter clock: measures the waits of the timers.
  public init(clock: any Clock<Duration>) {
    self.clock = clock
  }

  deinit { close() }

  /// Whether the loop was started and not closed.
  public var isRunning: Bool { state.withLock { $0.requests != nil } }

  /// Starts the loop, which waits for a request.
  ///
  /// - Parameter operation: runs after a request; the loop retains it.
  /// - Returns: whether the loop was not running yet; otherwise nothing happens.
  @discardableResult
  public func start(_ operation: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      guard state.requests == nil else { return false }
      let (stream, requests) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
      state.requests = requests
      state.task = Task { for await _ in stream { await operation() } }
      return true
    }
  }

  /// Closes the loop, ends its timers and cancels the operation in progress.
  ///
  /// - Returns: a task that ends with the operation in progress; `nil` if the loop did not run.
  @discardableResult
  public func close() -> Task<Void, Never>? {
    state.withLock { state in
      state.requests?.finish()
      for timer in state.timers.values { timer.cancel() }
      state.task?.cancel()
      defer { state = State() }
      return state.task
    }
  }

  /// Requests a run of the operation.
  public func requestRun() {
    state.withLock { _ = $0.requests?.yield() }
  }

  /// Sets a timer in place of the earlier one of its name; without effect if the loop does not run.
  ///
  /// - Parameters:
  ///   - name: distinguishes the timers of a loop that needs several.
  ///   - wait: the time until `body` is called; `nil` ends the timer.
  ///   - body: is called once, and usually requests a run.
  public func setTimer(
    _ name: String = "", after wait: Duration?, _ body: @escaping @Sendable () -> Void = {}
  ) {
    state.withLock { state in
      state.timers.removeValue(forKey: name)?.cancel()
      guard state.requests != nil, let wait else { return }
      state.timers[name] = Task { [clock] in
        guard (try? await clock.sleep(for: wait)) != nil else { return }
        body()
      }
    }
  }
}
