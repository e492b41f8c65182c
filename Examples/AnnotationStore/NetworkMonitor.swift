import Synchronization

/// Whether there is a network, and whether its traffic costs money.
public enum NetworkStatus: String, Hashable, Sendable, Codable, CaseIterable {
  /// There is none.
  case offline
  /// There is one without costs, such as Wi-Fi.
  case online
  /// There is one that is paid by volume, such as a mobile one.
  case expensive

  /// Whether anything can be sent.
  public var isConnected: Bool { self != .offline }
}

/// Reports whether the device has a network, now and after each change.
///
/// It observes a ``NetworkLink``: the system's on a device, a ``SimulatedLink`` in tests and tools.
/// May be used from any thread.
public final class NetworkMonitor: Sendable {
  private let state: Observed<NetworkStatus>
  private let link: any NetworkLink

  /// Observes `link` from now on.
  public init(_ link: any NetworkLink) {
    self.link = link
    state = Observed(link.status)
    link.watch { [weak state] status in state?.set(status) { $0 != status } }
    // It may have changed before it was watched.
    let status = link.status
    state.set(status) { $0 != status }
  }

  /// The present status.
  public var status: NetworkStatus { state.value }

  /// Whether anything can be sent now.
  public var isConnected: Bool { status.isConnected }

  /// The present status, and each change; a slow observer receives the newest.
  public var updates: AsyncStream<NetworkStatus> { state.updates(.bufferingNewest(1)) }
}

/// The source of a ``NetworkMonitor``.
public protocol NetworkLink: AnyObject, Sendable {
  /// The present status.
  var status: NetworkStatus { get }

  /// Calls `handler` after each change from now on, on any thread.
  func watch(_ handler: @escaping @Sendable (NetworkStatus) -> Void)
}

/// A network that a test or a user of a tool turns on and off.
public final class SimulatedLink: NetworkLink {
  private let state: Mutex<(status: NetworkStatus, handlers: [@Sendable (NetworkStatus) -> Void])>

  /// Creates a link.
  public init(_ status: NetworkStatus = .online) {
    state = Mutex((status, []))
  }

  /// The status; setting another one calls all handlers.
  public var status: NetworkStatus {
    get { state.withLock { $0.status } }
    set {
      let handlers = state.withLock { state in
        let isChange = state.status != newValue
        state.status = newValue
        return isChange ? state.handlers : []
      }
      for handler in handlers { handler(newValue) }
    }
  }

  /// Calls `handler` after each change from now on, on the thread that made it.
  public func watch(_ handler: @escaping @Sendable (NetworkStatus) -> Void) {
    state.withLock { $0.handlers.append(handler) }
  }
}
