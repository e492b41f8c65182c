package import CloudProtocol
package import Records

/// The availability of the account on a device, as in `CKAccountStatus`.
///
/// Only public reads work without an available account. Rules: CS-51 and CS-174.
public enum AccountAvailability: String, Hashable, Sendable, CaseIterable {
  /// The account is available.
  case available
  /// The account is not ready: requests fail with `accountTemporarilyUnavailable`.
  case temporarilyUnavailable
  /// Access is restricted by an administrator or parent: requests fail with `notAuthenticated`.
  case restricted
  /// The status is unknown: requests fail with `notAuthenticated`.
  case couldNotDetermine
}

/// The origin of a request: the device and the account that is signed in on it.
///
/// The server derives it from the connection, never from the request's content.
package struct Caller: Hashable, Sendable {
  /// The account that is signed in; `nil` when there is none.
  package var user: UserID?
  /// The device, unique on the server.
  package var device: String
  /// Whether the account can be used.
  package var availability: AccountAvailability
  /// Whether the caller chose the ID of the request, so that it can repeat the request; else no
  /// receipt is kept.
  package var choseRequestID: Bool

  /// Creates a caller.
  package init(
    user: UserID?, device: String, availability: AccountAvailability = .available,
    choseRequestID: Bool = true
  ) {
    self.user = user
    self.device = device
    self.availability = availability
    self.choseRequestID = choseRequestID
  }
}

/// The outcome of a call: the reply and the pushes to send.
package struct CloudAnswer: Sendable, Equatable {
  /// The reply to the caller.
  package var result: Result<CloudReply, CloudError>
  /// The pushes to send after the commit, in the order of their subscriptions' names.
  package var pushes: [OutgoingPush]
  /// The changed databases, in the order of their first change: a change in a shared zone also
  /// changes the shared databases of its viewers.
  package var changed: [ChangedDatabase]

  /// Creates an answer.
  package init(
    result: Result<CloudReply, CloudError>, pushes: [OutgoingPush] = [],
    changed: [ChangedDatabase] = []
  ) {
    self.result = result
    self.pushes = pushes
    self.changed = changed
  }
}

/// A place in the order of a database's changes.
package struct DatabasePosition: Hashable, Sendable, Comparable {
  /// The number of the latest change.
  package var sequence: UInt64
  /// The time of the latest change; every later change has a later time.
  package var time: Timestamp

  /// The position before the first change.
  package static let start = DatabasePosition(
    sequence: 0, time: Timestamp(secondsSinceReferenceDate: 0))

  /// Creates a position.
  package init(sequence: UInt64, time: Timestamp) {
    self.sequence = sequence
    self.time = time
  }

  /// The position after all changes of a database.
  package init(_ row: DatabaseRow) { self.init(sequence: row.sequence, time: row.latest) }

  /// Compares the numbers of the changes.
  package static func < (first: DatabasePosition, second: DatabasePosition) -> Bool {
    first.sequence < second.sequence
  }
}

/// A database that a request changed, with its positions before and afterwards.
package struct ChangedDatabase: Hashable, Sendable {
  /// The database.
  package var id: DatabaseID
  /// The position before the request.
  package var earlier: DatabasePosition
  /// The position after the request.
  package var position: DatabasePosition

  /// Notes the positions of a database.
  package init(
    _ id: DatabaseID, after earlier: DatabasePosition, through position: DatabasePosition
  ) {
    self.id = id
    self.earlier = earlier
    self.position = position
  }
}

/// The outcome of an administrative action, whose changes are committed.
package struct AdministrativeOutcome: Sendable {
  /// The pushes to send after the transaction.
  package var pushes: [OutgoingPush] = []
  /// The changed databases; see `CloudAnswer.changed`.
  package var changed: [ChangedDatabase] = []

  /// Creates the outcome of an action that changes nothing.
  package init() {}

  init(_ pushes: [OutgoingPush], _ transaction: WriteTransaction) {
    self.pushes = pushes
    changed = transaction.changedDatabases
  }
}

/// A push to send to the devices of a user.
package struct OutgoingPush: Hashable, Sendable {
  /// The receiving user.
  package var user: UserID
  /// The device that made the change and gets no push; `nil` for none.
  package var exceptDevice: String?
  /// What the devices receive.
  package var push: CloudPush

  /// Creates an outgoing push.
  package init(user: UserID, exceptDevice: String?, push: CloudPush) {
    self.user = user
    self.exceptDevice = exceptDevice
    self.push = push
  }
}
