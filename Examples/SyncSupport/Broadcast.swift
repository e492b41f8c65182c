import Foundation
import Synchronization

/// Sends elements to any number of asynchronous sequences, which end when it is released.
///
/// May be used from any thread.
public final class Broadcast<Element: Sendable>: Sendable {
  private let listeners = Mutex<[UUID: AsyncStream<Element>.Continuation]>([:])

  /// Creates a broadcast without sequences.
  public init() {}

  deinit { for listener in listeners.withLock({ Array($0.values) }) { listener.finish() } }

  /// Sends an element to the sequences; it is only computed if there is one.
  public func send(_ element: @autoclosure () -> Element) {
    listeners.withLock { listeners in
      guard !listeners.isEmpty else { return }
      let element = element()
      for listener in listeners.values { listener.yield(element) }
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
      let id = UUID()
      if let first { listener.yield(first) }
      listeners.withLock { $0[id] = listener }
      listener.onTermination = { [weak self] _ in
        self?.listeners.withLock { _ = $0.removeValue(forKey: id) }
      }
    }
  }
}
