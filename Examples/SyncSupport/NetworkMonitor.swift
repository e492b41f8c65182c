import Synchronization

/// Whether there is a network, and whether its traffic costs the person something.
public enum NetworkStatus: String, Hashable, Sendable, Codable, CaseIterable {
  /// There is none.
  case offline
  /// There is one that costs nothing, such as Wi-Fi.
  case online
  /// There is one that is paid by volume, such as a mobile one.
  case expensive

  /// Whether anything can be sent at all.
  public var isConnected: Bool { self != .offline }
}

/// Tells whether the device has a network, now and whenever that changes.
///
/// What it watches is a ``NetworkLink``: the system's on a device, a ``SimulatedLink`` in tests and
/// tools. May be used from any thread.
public final class NetworkMonitor: Sendable {
  private struct State {
    var status: NetworkStatus
    var lastListener: UInt64 = 0
    var listeners: [UInt64: AsyncStream<NetworkStatus>.Continuation] = [:]
  }

  private let state: Mutex<State>
  private let link: any NetworkLink

  /// Watches `link` from now on.
  public init(_ link: any NetworkLink) {
    self.link = link
    state = Mutex(State(status: link.status))
    link.watch { [weak self] status in self?.take(status) }
    // It may have changed between the two lines above.
    take(link.status)
  }

  deinit {
    for listener in state.withLock({ $0.listeners.values.map(\.self) }) { listener.finish() }
  }

  /// What the network is like now.
  public var status: NetworkStatus { state.withLock { $0.status } }

  /// Whether anything can be sent now.
  public var isConnected: Bool { status.isConnected }

  /// What the network is like now, and again whenever that changes; the newest is never missed.
  public var updates: AsyncStream<NetworkStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      let number = state.withLock { state in
        state.lastListener += 1
        state.listeners[state.lastListener] = listener
        listener.yield(state.status)
        return state.lastListener
      }
      listener.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
    }
  }

  private func take(_ status: NetworkStatus) {
    state.withLock { state in
      guard state.status != status else { return }
      state.status = status
      for listener in state.listeners.values { listener.yield(status) }
    }
  }
}

/// What a ``NetworkMonitor`` watches.
public protocol NetworkLink: AnyObject, Sendable {
  /// What the network is like now.
  var status: NetworkStatus { get }

  /// Calls `handler` after each change from now on, on any thread.
  func watch(_ handler: @escaping @Sendable (NetworkStatus) -> Void)
}

/// A network that a test, a demonstration or a person at the command line turns on and off.
public final class SimulatedLink: NetworkLink {
  private struct State {
    var status: NetworkStatus
    var handlers: [@Sendable (NetworkStatus) -> Void] = []
  }

  private let state: Mutex<State>

  /// A link that is `status` until it is set otherwise.
  public init(_ status: NetworkStatus = .online) {
    state = Mutex(State(status: status))
  }

  /// What the network is like; setting it tells everyone who watches.
  public var status: NetworkStatus {
    get { state.withLock { $0.status } }
    set {
      let handlers = state.withLock { state in
        guard state.status != newValue else { return [@Sendable (NetworkStatus) -> Void]() }
        state.status = newValue
        return state.handlers
      }
      for handler in handlers { handler(newValue) }
    }
  }

  /// Calls `handler` after each change from now on, on the thread that made it.
  public func watch(_ handler: @escaping @Sendable (NetworkStatus) -> Void) {
    state.withLock { $0.handlers.append(handler) }
  }
}
