public import Records

/// The transport from a device to a server; the only external dependency of an engine.
///
/// A transport belongs to one device. It may be in process, over HTTP, or implemented by the
/// adopter; the engine treats all of them alike.
public protocol CloudTransport: Sendable {
  /// Sends a request to the server and returns its reply.
  ///
  /// Can be called concurrently from any task. It throws when the request as a whole failed; a
  /// reply in which single items failed is a success. It throws `operationCancelled` early when the
  /// task is cancelled; the request may have been carried out nevertheless.
  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply

  /// Calls `listener` for every signal from now on, until the returned value is released or
  /// stopped. The listener is called from any thread and must return at once.
  func observeSignals(_ listener: @escaping @Sendable (CloudSignal) -> Void)
    -> any SignalObservation
}

/// The registration of a listener, removed when it is deallocated.
public protocol SignalObservation: Sendable {
  /// Ends the observation; further calls have no effect.
  func stop()
}

/// A notification from the server or the device without a request.
public enum CloudSignal: Hashable, Sendable {
  /// The account may have changed; request the current user.
  case accountChanged
  /// A subscription fired.
  case push(CloudPush)
  /// The server can be reached again after network failures.
  case networkReturned
}

/// A push.
///
/// It reports that there are changes, without their content.
public struct CloudPush: Hashable, Sendable, Codable {
  /// The container of the change.
  public var container: String
  /// The database of the change.
  public var database: DatabaseScope
  /// The subscription that fired.
  public var subscription: SubscriptionID
  /// The zone that changed, for a zone or query subscription.
  public var zone: ZoneID?
  /// The changed record, for a query subscription.
  public var query: QueryPush?
  /// The environment of the change; `nil` if it is not known.
  ///
  /// It is not sent: a transport that waits for the pushes of one environment sets it.
  public var environment: CloudEnvironment?
  /// The notification info of a subscription that fires once and that the server removed with this
  /// push.
  ///
  /// It is `nil` for other pushes, and is not encoded.
  package var spentInfo: Subscription.NotificationInfo?

  private enum CodingKeys: CodingKey {
    case container, database, subscription, zone, query, environment
  }

  /// Creates a push.
  public init(
    container: String, database: DatabaseScope, subscription: SubscriptionID, zone: ZoneID? = nil,
    query: QueryPush? = nil, environment: CloudEnvironment? = nil
  ) {
    self.environment = environment
    self.container = container
    self.database = database
    self.subscription = subscription
    self.zone = zone
    self.query = query
  }

  /// Whether the push is for a device that uses a container in an environment.
  package func concerns(_ container: String, _ environment: CloudEnvironment) -> Bool {
    self.container == container && self.environment ?? environment == environment
  }
}

/// The part of a push for a query subscription: the record that matched, changed or was deleted.
public struct QueryPush: Hashable, Sendable, Codable {
  /// The reason of the push, with CloudKit's numbers.
  public enum Reason: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// A matching record was created.
    case created = 1
    /// A matching record changed.
    case updated = 2
    /// A matching record was deleted.
    case deleted = 3
  }

  /// The record whose change caused the push.
  public var record: RecordID
  /// Whether the record was created, changed or deleted.
  public var reason: Reason
  /// The fields that the subscription requests in its pushes.
  public var fields: Fields

  /// Creates the part for `record`.
  public init(record: RecordID, reason: Reason, fields: Fields = Fields()) {
    self.record = record
    self.reason = reason
    self.fields = fields
  }
}
