public import CloudProtocol
import Synchronization

/// A device's transport to a loopback server, with the device's account and network state.
///
/// Create one with `LoopbackServer.device(_:signedInAs:)`. Call from any task or thread.
public final class LoopbackDevice: CloudTransport, Sendable {
  private let state: DeviceState
  private let dispatcher: RequestDispatcher

  init(state: DeviceState, dispatcher: RequestDispatcher) {
    self.state = state
    self.dispatcher = dispatcher
  }

  /// The device's name, unique on its server.
  public var name: String { state.name }

  /// The name of the account that is signed in; `nil` when none is.
  public var account: String? { state.account }

  /// Whether the account can be used.
  public var availability: AccountAvailability { state.availability }

  /// The number of registered signal observers.
  public var observerCount: Int { state.listenerCount }

  /// Signs in as `account`, after signing out of another account.
  ///
  /// The server creates the account at the first request. Listeners get `accountChanged` unless the
  /// account was already signed in.
  /// - Parameter account: 1 to 255 bytes without control characters; with any other name every
  ///   request fails with `invalidArguments`.
  public func signIn(as account: String) { state.signIn(as: account) }

  /// Signs out; later requests fail with `notAuthenticated`.
  public func signOut() { state.signIn(as: nil) }

  /// Sets the availability of the account; listeners get `accountChanged` if it changes.
  public func setAvailability(_ availability: AccountAvailability) {
    state.setAvailability(availability)
  }

  /// Whether the device has a network.
  ///
  /// Without a network, requests fail with `networkUnavailable`, responses in transit are lost, and
  /// pushes wait, without duplicates, until the device is online.
  public var isOnline: Bool {
    get { state.isOnline }
    set { state.setOnline(newValue) }
  }

  /// Sends `call` to the server, subject to the faults in `LoopbackServer.controls`.
  public func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    try await dispatcher.send(call, from: state)
  }

  /// Sends `call`, and has its reply encoded while a database elsewhere makes the change.
  ///
  /// - Parameter choseRequestID: Whether the device chose the ID of the request; else the server
  ///   keeps no receipt.
  /// - Returns: The reply, and what `encode` made of it; `nil` if nothing was waited for.
  package func send<Body: Sendable>(
    _ call: CloudCall, choseRequestID: Bool = true,
    encode: @escaping @Sendable (CloudReply) -> Body?
  ) async throws(CloudError) -> (reply: CloudReply, body: Body?) {
    let early = EarlyBody<Body>()
    let reply = try await dispatcher.send(call, from: state, choseRequestID: choseRequestID) {
      reply in
      let body = encode(reply)
      early.body.withLock { $0 = body }
    }
    return (reply, early.body.withLock { $0 })
  }

  /// Calls `listener` for each push and change of account, on the thread that caused it.
  public func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    DeviceObservation(state: state, id: state.add(listener))
  }
}

/// A reply that was encoded before its change is committed.
private final class EarlyBody<Body: Sendable>: Sendable {
  let body = Mutex<Body?>(nil)
}

/// The registration of a listener.
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
