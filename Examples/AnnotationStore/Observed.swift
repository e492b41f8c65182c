import SyncSupport
import Synchronization

/// A value that any number of asynchronous sequences observe; it ends them when it is released.
final class Observed<Value: Sendable>: Sendable {
  private let state: Mutex<Value>
  private let broadcast = Broadcast<Value>()

  init(_ value: Value) { state = Mutex(value) }

  var value: Value { state.withLock { $0 } }

  /// Sets the value.
  ///
  /// - Parameter isChange: whether the new value replaces the present one.
  func set(_ value: Value, if isChange: (Value) -> Bool = { _ in true }) {
    state.withLock { state in
      guard isChange(state) else { return }
      state = value
      broadcast.send(value)
    }
  }

  /// The present value, and each later one.
  func updates(
    _ policy: AsyncStream<Value>.Continuation.BufferingPolicy = .unbounded
  ) -> AsyncStream<Value> {
    state.withLock { broadcast.elements(policy, startingWith: $0) }
  }
}
