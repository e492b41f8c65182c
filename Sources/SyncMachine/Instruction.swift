package import CloudProtocol
package import Records

/// A moment on the driver's monotonic clock, as the time since the driver started.
package struct Moment: Hashable, Sendable, Comparable {
  /// The time since the driver started.
  package var sinceStart: Duration

  /// The moment `sinceStart` after the driver started.
  package init(_ sinceStart: Duration) { self.sinceStart = sinceStart }

  /// The moment the driver started.
  package static let start = Moment(.zero)

  /// The moment `duration` later.
  package static func + (moment: Moment, duration: Duration) -> Moment {
    Moment(moment.sinceStart + duration)
  }

  /// The time from `second` to `first`.
  package static func - (first: Moment, second: Moment) -> Duration {
    first.sinceStart - second.sinceStart
  }

  /// Orders by time.
  package static func < (first: Moment, second: Moment) -> Bool {
    first.sinceStart < second.sinceStart
  }
}

/// Identifies a request of a machine.
///
/// Replies to any but the current request are ignored.
package struct RequestToken: Hashable, Sendable {
  /// The number.
  package var number: UInt64

  /// Creates a token.
  package init(number: UInt64) { self.number = number }
}

/// A request that the driver sends to the server.
package struct OutgoingRequest: Hashable, Sendable {
  /// The token to report the reply with.
  package var token: RequestToken
  /// The request ID on the server, unique for the device.
  package var requestID: String
  /// The account the request is meant for, if known.
  package var expectedUser: UserID?
  /// The request.
  package var request: CloudRequest
}

/// Identifies a call that waits for the end of an operation.
package struct Waiter: Hashable, Sendable {
  /// The number assigned by the driver.
  package var number: UInt64

  /// Creates an identifier.
  package init(number: UInt64) { self.number = number }
}

/// The outcome of an operation, for its waiters.
package enum OperationOutcome: Hashable, Sendable {
  /// All of the operation succeeded.
  case success
  /// The operation failed as a whole or in part.
  case failure(OperationFailure)
}

/// The errors of an operation that failed as a whole or in part.
package struct OperationFailure: Hashable, Sendable {
  /// The error of the operation; `partialFailure` when only items failed.
  package var error: CloudError
  /// The errors of single records.
  package var records: [RecordID: CloudError]
  /// The errors of single zones.
  package var zones: [ZoneID: CloudError]

  /// Creates a failure.
  package init(
    _ error: CloudError, records: [RecordID: CloudError] = [:], zones: [ZoneID: CloudError] = [:]
  ) {
    self.error = error
    self.records = records
    self.zones = zones
  }

  /// Whether only single zones failed; a request as a whole may fail with `partialFailure` too.
  var concernsZonesOnly: Bool { error.code == .partialFailure && !zones.isEmpty }
}

/// An instruction for the driver, one at a time.
///
/// `SyncMachine` describes the protocol of use.
package enum Instruction: Hashable, Sendable {
  /// Pass this event to the app; call `delivered()` when the app has returned.
  case deliver(SyncEvent)
  /// Ask the app for the next batch; call `provided(batch:shown:now:)` with it.
  case askForBatch(SendContext)
  /// Ask the app for the options of the next request; call `provided(options:)` with them.
  case askForFetchOptions(FetchContext)
  /// Start this request without waiting; call `received(_:for:now:jitter:)` with its reply.
  case send(OutgoingRequest)
  /// The reply to this request is not needed any more; it may be cancelled.
  case abandon(RequestToken)
  /// Resume these waiters with the outcome of their operation.
  case finish([Waiter], OperationOutcome)
  /// Do nothing until the next input, or until this moment.
  case wait(until: Moment?)
}
