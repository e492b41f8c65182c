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
  /// The server can be reached again, after requests failed for want of a network.
  case networkReturned
}

/// The content of a push: that something changed, not what.
public struct CloudPush: Hashable, Sendable, Codable {
  /// The container it is about.
  public var container: String
  /// The database it is about.
  public var database: DatabaseScope
  /// The subscription that fired.
  public var subscription: SubscriptionID
  /// The zone that changed, for a zone or query subscription.
  public var zone: ZoneID?
  /// What happened to which record, for a query subscription.
  public var query: QueryPush?

  /// Describes a push.
  public init(
    container: String, database: DatabaseScope, subscription: SubscriptionID, zone: ZoneID? = nil,
    query: QueryPush? = nil
  ) {
    self.container = container
    self.database = database
    self.subscription = subscription
    self.zone = zone
    self.query = query
  }
}

/// What a query subscription tells: which record began to match, changed, or went.
public struct QueryPush: Hashable, Sendable, Codable {
  /// Why it fired; the numbers are CloudKit's.
  public enum Reason: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// A matching record appeared.
    case created = 1
    /// A matching record changed.
    case updated = 2
    /// A matching record went.
    case deleted = 3
  }

  /// The record.
  public var record: RecordID
  /// Why.
  public var reason: Reason
  /// The fields the subscription wants sent along.
  public var fields: Fields

  /// Tells what happened to `record`.
  public init(record: RecordID, reason: Reason, fields: Fields = Fields()) {
    self.record = record
    self.reason = reason
    self.fields = fields
  }
}
