public import CloudProtocol
public import Records

/// An event on the server, numbered in order of occurrence.
public struct ServerEvent: Hashable, Sendable {
  /// The kinds of event, each with its details.
  public enum Content: Hashable, Sendable {
    /// A request ended with a response or an error.
    case request(RequestEntry)
    /// A push was delivered, dropped or held.
    case push(PushEntry)
    /// An administrative change of an account's private database; `nil` for the public one.
    case administration(container: String, environment: CloudEnvironment, account: String?)
    /// An import or a reset replaced the server's contents.
    case replacement
  }

  /// The number of the event, from 1, consecutive.
  public var number: Int
  /// The time of the event, by the server's clock.
  public var time: Timestamp
  /// The content of the event.
  public var content: Content
}

/// The events after a position, and where to continue.
public struct ServerEventPage: Hashable, Sendable {
  /// The events, oldest first.
  public var events: [ServerEvent]
  /// The number to pass for the next page.
  public var next: Int
  /// Whether events before this page were discarded.
  public var missed: Bool
}
