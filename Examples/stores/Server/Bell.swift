import Synchronization

/// Wakes a task at intervals and when a push arrives.
final class Bell: Sendable {
  /// One element for each wake-up; several that are not awaited become one.
  let rings: AsyncStream<Void>

  private let continuation: AsyncStream<Void>.Continuation
  private let isNews = Mutex(false)
  private let ticker: Task<Void, Never>

  /// A bell that rings every `interval` until it is released.
  init(every interval: Duration) {
    let (rings, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.rings = rings
    self.continuation = continuation
    ticker = Task {
      while !Task.isCancelled {
        do { try await Task.sleep(for: interval) } catch { return }
        continuation.yield()
      }
    }
  }

  deinit {
    ticker.cancel()
    continuation.finish()
  }

  /// Rings because a push arrived.
  func ring() {
    isNews.withLock { $0 = true }
    continuation.yield()
  }

  /// Whether a push arrived since the last call.
  func takeNews() -> Bool {
    isNews.withLock { isNews in
      defer { isNews = false }
      return isNews
    }
  }
}
