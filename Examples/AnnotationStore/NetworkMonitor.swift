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
/// An app sets ``status`` to what the system's monitor reports; a test or a tool turns a simulated
/// network on and off with it. May be used from any thread.
public final class NetworkMonitor: Sendable {
  private let state: Observed<NetworkStatus>

  /// Creates a monitor of a network with this status.
  public init(_ status: NetworkStatus = .online) {
    state = Observed(status)
  }

  /// The present status; setting another one informs all observers.
  public var status: NetworkStatus {
    get { state.value }
    set { state.set(newValue) { $0 != newValue } }
  }

  /// Whether anything can be sent now.
  public var isConnected: Bool { status.isConnected }

  /// The present status, and each change; a slow observer receives the newest.
  public var updates: AsyncStream<NetworkStatus> { state.updates(.bufferingNewest(1)) }
}
