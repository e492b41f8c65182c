package import CloudProtocol
import Synchronization

/// The listeners of a transport, called in the order of their registration.
package final class SignalListeners: Sendable {
  private struct State {
    var listeners: [(id: Int, call: @Sendable (CloudSignal) -> Void)] = []
    var lastID = 0
  }

  /// The registration of one listener.
  private final class Observation: SignalObservation {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    func stop() { end() }
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  package init() {}

  /// Whether there is no listener.
  package var isEmpty: Bool { state.withLock { $0.listeners.isEmpty } }

  /// Adds a listener, until the returned value is released or stopped; `removed` is called then.
  package func add(
    _ listener: @escaping @Sendable (CloudSignal) -> Void,
    removed: @escaping @Sendable () -> Void = {}
  ) -> any SignalObservation {
    let id = state.withLock { state in
      state.lastID += 1
      state.listeners.append((state.lastID, listener))
      return state.lastID
    }
    return Observation { [weak self] in
      self?.remove { $0 == id }
      removed()
    }
  }

  /// Removes all listeners.
  package func removeAll() { remove { _ in true } }

  /// A listener may be the last to retain an object that ends other observations, so it is released
  /// after the lock.
  private func remove(_ isRemoved: (Int) -> Bool) {
    let removed = state.withLock { state in
      let removed = state.listeners.filter { isRemoved($0.id) }
      state.listeners.removeAll { isRemoved($0.id) }
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Calls all listeners.
  package func notify(_ signal: CloudSignal) {
    for listener in state.withLock({ $0.listeners }) { listener.call(signal) }
  }
}
