package import CloudProtocol
package import Records

/// Who stands at the door: the device that asks and the account that is signed in on it.
///
/// The server fills it in from what it knows of the connection; nothing in it comes from the
/// request.
package struct Caller: Hashable, Sendable {
  /// Whether the account can be used.
  ///
  /// Source: cloudkit-surface 1.1, `CKAccountStatus`.
  package enum Availability: UInt8, Hashable, Sendable, CaseIterable {
    /// It can.
    case available
    /// There is an account, but it is not ready; only public reads work.
    case temporarilyUnavailable
    /// An administrator or parent forbids it; only public reads work.
    case restricted
    /// The device can't tell whether it can; only public reads work.
    case couldNotDetermine
  }

  /// The account that is signed in; `nil` when there is none.
  package var user: UserID?
  /// The device, unique on the server.
  package var device: String
  /// Whether the account can be used.
  package var availability: Availability

  /// Describes who asks.
  package init(user: UserID?, device: String, availability: Availability = .available) {
    self.user = user
    self.device = device
    self.availability = availability
  }
}

/// What the cloud decided about one call: the answer, and whom to tell of what changed.
package struct CloudAnswer: Sendable, Equatable {
  /// The answer to the caller.
  package var result: Result<CloudReply, CloudError>
  /// Pushes to send after the answer was committed, in the order of their subscriptions' names.
  package var pushes: [PushOrder]
  /// The databases whose rows changed, in the order they were first touched: a change in a shared
  /// zone touches those of everyone who sees it.
  package var changed: [DatabaseID]

  /// Puts an answer together.
  package init(
    result: Result<CloudReply, CloudError>, pushes: [PushOrder] = [], changed: [DatabaseID] = []
  ) {
    self.result = result
    self.pushes = pushes
    self.changed = changed
  }
}

/// An instruction to the server: send `push` to the devices of `user`.
package struct PushOrder: Hashable, Sendable {
  /// Whose devices.
  package var user: UserID
  /// The device that made the change and is not told; `nil` tells all of them.
  package var exceptDevice: String?
  /// What to send.
  package var push: CloudPush

  /// Orders a push.
  package init(user: UserID, exceptDevice: String?, push: CloudPush) {
    self.user = user
    self.exceptDevice = exceptDevice
    self.push = push
  }
}
