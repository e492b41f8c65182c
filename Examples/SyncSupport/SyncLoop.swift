import Synchronization

/// Runs one operation after each ring, never two at once.
///
/// After ``start(_:)``, rings during an operation lead to one more operation after it. After
/// ``close()`` rings have no effect until the next start. May be used from any thread.
public final class SyncLoop: Sendable {
  private struct State {
    var bell: AsyncStream<Void>.Continuation?
    var task: Task<Void, Never>?
    var timer: Task<Void, Never>?
  }

  private let clock: any Clock<Duration>
  private let state = Mutex(State())

  /// Creates a loop that does not run.
  ///
  /// - Parameter clock: measures the wait of the timer.
  public init(clock: any Clock<Duration>) {
    self.clock = clock
  }

  deinit { close() }

  /// Whether the loop was started and not closed.
  public var isRunning: Bool { state.withLock { $0.bell != nil } }

  /// Starts the loop, which waits for a ring.
  ///
  /// - Parameter operation: runs after a ring; the loop retains it.
  /// - Returns: whether the loop was not running yet; otherwise nothing happens.
  @discardableResult
  public func start(_ operation: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      guard state.bell == nil else { return false }
      let (bells, bell) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingNewest(1))
      state.bell = bell
      state.task = Task { for await _ in bells { await operation() } }
      return true
    }
  }

  /// Closes the loop, ends its timer and cancels the operation in progress.
  ///
  /// - Returns: a task that ends with the operation in progress; `nil` if the loop did not run.
  @discardableResult
  public func close() -> Task<Void, Never>? {
    state.withLock { state in
      state.bell?.finish()
      state.timer?.cancel()
      state.task?.cancel()
      defer { state = State() }
      return state.task
    }
  }

  /// Asks for an operation soon.
  public func ring() {
    state.withLock { _ = $0.bell?.yield() }
  }

  /// Sets the timer in place of an earlier one; without effect if the loop does not run.
  ///
  /// - Parameters:
  ///   - wait: the time until `body` is called; `nil` ends the timer.
  ///   - body: is called once, and usually rings.
  public func setTimer(after wait: Duration?, _ body: @escaping @Sendable () -> Void = {}) {
    state.withLock { state in
      state.timer?.cancel()
      guard state.bell != nil, let wait else { return state.timer = nil }
      state.timer = Task { [clock] in
        guard (try? await clock.sleep(for: wait)) != nil else { return }
        body()
      }
    }
  }
}
