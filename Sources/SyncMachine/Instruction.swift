package import CloudProtocol
package import Records

/// A moment on the driver's own clock: how long since it started.
///
/// Never wall time.
package struct Moment: Hashable, Sendable, Comparable {
  /// How long since the driver started.
  package var sinceStart: Duration

  /// The moment `sinceStart` after the driver started.
  package init(_ sinceStart: Duration) { self.sinceStart = sinceStart }

  /// The moment the driver started.
  package static let start = Moment(.zero)

  /// The moment `duration` later.
  package static func + (moment: Moment, duration: Duration) -> Moment {
    Moment(moment.sinceStart + duration)
  }

  /// How long from `second` to `first`.
  package static func - (first: Moment, second: Moment) -> Duration {
    first.sinceStart - second.sinceStart
  }

  /// Orders by time.
  package static func < (first: Moment, second: Moment) -> Bool {
    first.sinceStart < second.sinceStart
  }
}

/// Names one request of a machine; an answer to any but the current one is late and ignored.
package struct RequestToken: Hashable, Sendable {
  /// The number.
  package var number: UInt64

  /// Names a request.
  package init(number: UInt64) { self.number = number }
}

/// A request for the driver to carry.
package struct OutgoingRequest: Hashable, Sendable {
  /// The name to answer under.
  package var token: RequestToken
  /// The name it has on the server, unique for the device.
  package var requestID: String
  /// The account it is made for, when known.
  package var expectedUser: UserID?
  /// What is asked.
  package var request: CloudRequest

  /// Puts a request together.
  package init(
    token: RequestToken, requestID: String, expectedUser: UserID?, request: CloudRequest
  ) {
    self.token = token
    self.requestID = requestID
    self.expectedUser = expectedUser
    self.request = request
  }
}

/// Names somebody who waits for a manual operation to end.
package struct Waiter: Hashable, Sendable {
  /// The number the driver gave.
  package var number: UInt64

  /// Names a waiter.
  package init(number: UInt64) { self.number = number }
}

/// How an operation ended, for those who wait.
package enum OperationOutcome: Hashable, Sendable {
  /// Everything went well.
  case success
  /// Something did not.
  case failure(OperationFailure)
}

/// Why an operation ended early or in part.
package struct OperationFailure: Hashable, Sendable {
  /// The error of the whole, `partialFailure` when only items failed.
  package var error: CloudError
  /// The errors of single records.
  package var records: [RecordID: CloudError]
  /// The errors of single zones.
  package var zones: [ZoneID: CloudError]

  /// Describes a failure.
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

/// What the driver has to do next.
///
/// One at a time: the driver asks again after each.
package enum Instruction: Hashable, Sendable {
  /// Give the app this event; say `delivered` when it returned.
  case deliver(SyncEvent)
  /// Ask the app for the next batch; say `provided(batch:)`.
  case askForBatch(SendContext)
  /// Ask the app for the options of the next request; say `provided(options:)`.
  case askForFetchOptions(FetchContext)
  /// Carry this request and go on; say `received` when the answer is there.
  case send(OutgoingRequest)
  /// Nobody waits for the answer of this request any more.
  case abandon(RequestToken)
  /// Tell those who wait how their operation ended.
  case finish([Waiter], OperationOutcome)
  /// Nothing to do until something is said, or until this moment.
  case wait(until: Moment?)
}
