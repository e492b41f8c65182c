public import Records

/// The way from a device to the cloud; the one port an engine needs.
///
/// A transport belongs to one device. It is in process, over HTTP, or whatever an adopter
/// writes; the engine can't tell.
public protocol CloudTransport: Sendable {
  /// Carries one request to the cloud and the answer back.
  ///
  /// May be called from any task, many at a time. Throws when the request as a whole failed; an
  /// answer in which single items failed is a success. Stops early with `operationCancelled`
  /// when the task is cancelled: the request may still have been carried out.
  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply

  /// Calls `listener` for every signal from now on, until the returned value is released or
  /// told to stop. The listener is called from any thread and must return at once.
  func observeSignals(_ listener: @escaping @Sendable (CloudSignal) -> Void)
    -> any SignalObservation
}

/// Keeps a listener registered for as long as it lives.
public protocol SignalObservation: Sendable {
  /// Ends the observation; a second call does nothing.
  func stop()
}

/// Something the cloud or the device tells without being asked.
public enum CloudSignal: Hashable, Sendable {
  /// Another account, or none, is signed in now; ask for the current user.
  case accountChanged
  /// A subscription fired.
  case push(CloudPush)
}

/// The content of a push: that something changed, not what.
public struct CloudPush: Hashable, Sendable, Codable {
  /// The container it is about.
  public var container: String
  /// The database it is about.
  public var database: DatabaseScope
  /// The subscription that fired.
  public var subscription: SubscriptionID
  /// The zone that changed, for a zone subscription.
  public var zone: ZoneID?

  /// Describes a push.
  public init(
    container: String, database: DatabaseScope, subscription: SubscriptionID, zone: ZoneID? = nil
  ) {
    self.container = container
    self.database = database
    self.subscription = subscription
    self.zone = zone
  }
}
