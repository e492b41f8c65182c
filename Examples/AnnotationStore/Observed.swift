import Synchronization

/// A value that any number of asynchronous sequences observe; it ends them when it is released.
final class Observed<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var lastListener: UInt64 = 0
    var listeners: [UInt64: AsyncStream<Value>.Continuation] = [:]
  }

  private let state: Mutex<State>

  init(_ value: Value) {
    state = Mutex(State(value: value))
  }

  deinit {
    for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() }
  }

  /// The present value.
  var value: Value { state.withLock { $0.value } }

  /// Sets the value.
  ///
  /// - Parameter isChange: whether the new value replaces the present one.
  func set(_ value: Value, if isChange: (Value) -> Bool = { _ in true }) {
    state.withLock { state in
      guard isChange(state.value) else { return }
      state.value = value
      for listener in state.listeners.values { listener.yield(value) }
    }
  }

  /// The present value, unless it is left out, and each later one.
  func updates(
    _ policy: AsyncStream<Value>.Continuation.BufferingPolicy = .unbounded,
    withPresent isPresentIncluded: Bool = true
  ) -> AsyncStream<Value> {
    AsyncStream(bufferingPolicy: policy) { listener in
      let number = state.withLock { state in
        state.lastListener += 1
        state.listeners[state.lastListener] = listener
        if isPresentIncluded { listener.yield(state.value) }
        return state.lastListener
      }
      listener.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
    }
  }
}
