import SyncedStore
import Synchronization

/// Sends elements to any number of asynchronous sequences, which end when it is released.
///
/// May be used from any thread.
public final class Broadcast<Element: Sendable>: Sendable {
  /// Those that have ended are removed by the next element.
  ///
  /// Their end must not wait for this lock: a cancelled task ends its sequence under a lock for
  /// which `yield` waits.
  private let listeners = Mutex<[AsyncStream<Element>.Continuation]>([])

  /// Creates a broadcast without sequences.
  public init() {}

  deinit { for listener in listeners.withLock({ $0 }) { listener.finish() } }

  /// Sends an element to the sequences; it is only computed if there is one.
  public func send(_ element: @autoclosure () -> Element) {
    listeners.withLock { listeners in
      guard !listeners.isEmpty else { return }
      let element = element()
      listeners.removeAll { listener in
        if case .terminated = listener.yield(element) { true } else { false }
      }
    }
  }

  /// The elements from now on.
  ///
  /// - Parameter first: the element that the sequence begins with, if any.
  public func elements(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
    startingWith first: Element? = nil
  ) -> AsyncStream<Element> {
    AsyncStream(bufferingPolicy: policy) { listener in
      if let first { listener.yield(first) }
      listeners.withLock { $0.append(listener) }
    }
  }
}
