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

  /// Creates a caller.
  package init(user: UserID?, device: String, availability: AccountAvailability = .available) {
    self.user = user
    self.device = device
    self.availability = availability
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

/// A database that a request changed, with the number of its latest change before and afterwards.
package struct ChangedDatabase: Hashable, Sendable {
  /// The database.
  package var id: DatabaseID
  /// The number of the latest change before the request.
  package var earlierSequence: UInt64
  /// The number of the latest change of the request.
  package var sequence: UInt64

  /// Notes the numbers of a database.
  package init(_ id: DatabaseID, after earlierSequence: UInt64, through sequence: UInt64) {
    self.id = id
    self.earlierSequence = earlierSequence
    self.sequence = sequence
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
