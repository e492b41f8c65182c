import SyncSupport
import Synchronization

/// Collects what is to be uploaded, so that many small changes become few requests: five go at
/// once, fewer wait two seconds after the last one.
///
/// It only decides when an element is sent and with which others; it does not store elements. All
/// methods may be called from any thread.
public final class UploadQueue<Element: Sendable>: Sendable {
  private struct State {
    var waiting: [Element] = []
    var timer: Task<Void, Never>?
  }

  /// How many elements go at once.
  public let limit: Int

  /// How long fewer elements wait for company after the last one.
  public let delay: Duration

  private let clock: any Clock<Duration>
  private let flush: @Sendable ([Element]) -> Void
  private let state = Mutex(State())

  /// Makes an empty queue.
  ///
  /// - Parameters:
  ///   - limit: how many elements go at once, at least 1.
  ///   - delay: how long fewer wait after the last one.
  ///   - clock: measures the wait.
  ///   - flush: takes a group of elements, oldest first; called on the thread that added the last
  ///     element or on the timer's task, never under the queue's lock.
  public init(
    limit: Int = 5, delay: Duration = .seconds(2), clock: any Clock<Duration> = ContinuousClock(),
    flush: @escaping @Sendable ([Element]) -> Void
  ) {
    self.limit = max(1, limit)
    self.delay = delay
    self.clock = clock
    self.flush = flush
  }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// What waits for company now, oldest first.
  public var waiting: [Element] { state.withLock { $0.waiting } }

  /// Adds one element.
  public func add(_ element: Element) { add(contentsOf: [element]) }

  /// Adds elements in order; every full group is flushed before this returns.
  public func add(contentsOf elements: [Element]) {
    guard !elements.isEmpty else { return }
    let groups = state.withLock { state in
      state.waiting += elements
      var groups = state.waiting.chunks(of: limit)
      let rest = groups.last?.count == limit ? [] : groups.popLast() ?? []
      state.waiting = Array(rest)
      restartTimer(&state)
      return groups
    }
    for group in groups { flush(Array(group)) }
  }

  /// Takes what waits out of the queue, oldest first; it is the caller's to upload now.
  @discardableResult
  public func takeAll() -> [Element] { state.withLock { takeAll(&$0) } }

  private func takeAll(_ state: inout State) -> [Element] {
    defer {
      state.waiting = []
      restartTimer(&state)
    }
    return state.waiting
  }

  /// The wait counts from the last element, so each one starts it again.
  private func restartTimer(_ state: inout State) {
    state.timer?.cancel()
    state.timer = nil
    guard !state.waiting.isEmpty else { return }
    state.timer = Task { [clock, delay, weak self] in
      guard (try? await clock.sleep(for: delay)) != nil else { return }
      self?.timeIsUp()
    }
  }

  /// Flushes what waits, unless an element came between the end of the wait and this call.
  private func timeIsUp() {
    let group = state.withLock { Task.isCancelled ? [] : takeAll(&$0) }
    if !group.isEmpty { flush(group) }
  }
}
