/// What can be interrupted.
enum Interruption: String, CaseIterable {
  /// A server is killed and started again.
  case server
  /// PostgreSQL ends without saving and is started again.
  case database
  /// PostgreSQL closes all connections.
  case connections
  /// PostgreSQL stands still for a while.
  case stall
  /// PostgreSQL ends without saving, and its standby takes its place.
  case promotion
  /// Rows are locked until no connection of the servers is free.
  case exhaustion
  /// The standby stands still, and commits that wait for it are cancelled, which is a warning.
  case unconfirmed
  /// A connection of a server to PostgreSQL is cut, at each point of the protocol in turn.
  case cut
  /// A client is cut off from the server that answers it, and repeats its request at another.
  case client

  /// The kinds that may run beside each other.
  static let groups: [[Interruption]] = [
    [.server], [.database, .connections, .stall, .promotion, .exhaustion, .unconfirmed],
    [.cut, .client],
  ]
}

/// An interruption that took place.
struct Outage: Sendable {
  var kind: Interruption
  var start: ContinuousClock.Instant
  var end: ContinuousClock.Instant
  /// For how long nothing can have been answered.
  var inevitable: Duration = .zero
  /// The number of commits that it left unconfirmed.
  var commits = 0
}
