public import CloudProtocol

/// One device's way to a loopback server, and the device's settings that the server can see.
///
/// Made by `LoopbackServer.device(_:signedInAs:)`. Call from any task or thread.
public final class LoopbackDevice: CloudTransport, Sendable {
  private let state: DeviceState
  private let office: RequestOffice

  init(state: DeviceState, office: RequestOffice) {
    self.state = state
    self.office = office
  }

  /// The device's name, unique on its server.
  public var name: String { state.name }

  /// The name of the account that is signed in; `nil` when none is.
  public var account: String? { state.account }

  /// Whether the account can be used.
  public var availability: AccountAvailability { state.availability }

  /// How many observers of signals are registered now.
  public var observerCount: Int { state.listenerCount }

  /// Signs in as the account called `account`, leaving another one first.
  ///
  /// The server makes the account at the first request. Listeners hear `accountChanged` unless
  /// it was signed in already.
  /// - Parameter account: 1 to 255 bytes without control characters; with another name every
  ///   request ends in `invalidArguments`.
  public func signIn(as account: String) { state.signIn(as: account) }

  /// Signs out; requests end in `notAuthenticated` from now on.
  public func signOut() { state.signIn(as: nil) }

  /// Says whether the account can be used; listeners hear `accountChanged` when that is new.
  public func setAvailability(_ availability: AccountAvailability) {
    state.setAvailability(availability)
  }

  /// Whether the device has a network.
  ///
  /// Without one, requests end in `networkUnavailable`, an answer on its way is lost, and pushes
  /// wait, equal ones merged, until it is back.
  public var isOnline: Bool {
    get { state.isOnline }
    set { state.setOnline(newValue) }
  }

  /// Carries `call` to the server, through the faults set up in `LoopbackServer.controls`.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    try await office.carry(call, from: state)
  }

  /// Calls `listener` for each push and change of account, on the thread that caused it.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    DeviceObservation(state: state, id: state.add(listener))
  }
}

/// Keeps one listener of one device.
private final class DeviceObservation: SignalObservation {
  private let state: DeviceState
  private let id: UInt64

  init(state: DeviceState, id: UInt64) {
    self.state = state
    self.id = id
  }

  deinit { stop() }

  func stop() { state.remove(listener: id) }
}
