public import CloudProtocol
public import Records

/// Something that happened on a server, in the order in which it happened.
public struct ServerEvent: Hashable, Sendable {
  /// What happened.
  public enum Content: Hashable, Sendable {
    /// A request ended: with an answer, or with an error.
    case request(RequestEntry)
    /// A push was handed to a device, dropped or held.
    case push(PushEntry)
    /// An administrator changed something in an account's private database; `nil` for the public
    /// one.
    case administration(container: String, environment: CloudEnvironment, account: String?)
    /// An import or a reset put other things into the place of everything that was there.
    case replacement
  }

  /// Its number, from 1, one more than the one before.
  public var number: Int
  /// When it happened, by the server's clock.
  public var time: Timestamp
  /// What happened.
  public var content: Content
}

/// A page of what happened on a server.
public struct ServerEventPage: Hashable, Sendable {
  /// The events, oldest first.
  public var events: [ServerEvent]
  /// The number to ask with for what follows.
  public var next: Int
  /// Whether there were events in between that are not remembered any more.
  public var missed: Bool
}
