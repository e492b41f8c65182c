import Synchronization

/// Wakes one task up, now and then and when something is heard.
final class Bell: Sendable {
  /// One element for each time to wake up; those that nobody waits for become one.
  let rings: AsyncStream<Void>

  private let continuation: AsyncStream<Void>.Continuation
  private let isNews = Mutex(false)
  private let ticker: Task<Void, Never>

  /// A bell that rings every `interval` until it is let go.
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

  /// Rings because something was heard.
  func ring() {
    isNews.withLock { $0 = true }
    continuation.yield()
  }

  /// Whether something was heard since the last call.
  func takeNews() -> Bool {
    isNews.withLock { isNews in
      defer { isNews = false }
      return isNews
    }
  }
}
