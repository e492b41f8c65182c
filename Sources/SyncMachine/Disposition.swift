package import CloudProtocol

/// What becomes of a change whose send failed.
package enum Disposition: Hashable, Sendable {
  /// It waits again, and is sent again when that is due.
  case retry
  /// It is the app's now: it has been told, and adds the change again if it wants.
  case surface
}

extension CloudError.Code {
  /// The error table: one outcome for each code, none left out.
  ///
  /// Source: cksyncengine 2.6, and Docs/Decisions/0004 for the codes it leaves open.
  package var disposition: Disposition {
    switch self {
    // The documented list of what the engine handles itself.
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .zoneBusy, .accountTemporarilyUnavailable:
      .retry
    // Cancelled before an answer: nothing says the change is wrong.
    case .operationCancelled: .retry
    // It may have been applied; sending it again either repeats it or reports a conflict.
    case .serverResponseLost: .retry
    // These need the app: to merge, to create the zone, to forget a tag.
    case .serverRecordChanged, .zoneNotFound, .userDeletedZone, .unknownItem,
      .batchRequestFailed, .referenceViolation:
      .surface
    // These need the user or a smaller batch.
    case .limitExceeded, .quotaExceeded, .permissionFailure, .managedAccountRestricted,
      .participantMayNeedVerification, .participantAlreadyInvited, .tooManyParticipants,
      .alreadyShared:
      .surface
    // These would fail again the same way.
    case .internalError, .badContainer, .missingEntitlement, .invalidArguments,
      .resultsTruncated, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
      .assetNotAvailable, .incompatibleVersion, .constraintViolation, .badDatabase:
      .surface
    // These are never about one change.
    case .partialFailure, .changeTokenExpired: .surface
    }
  }
}

extension CloudError.Code {
  /// Whether the server could not be reached.
  var isOfNetwork: Bool { self == .networkUnavailable || self == .networkFailure }
}

extension OperationFailure {
  /// Whether the server could not be reached, for the operation or for an item of it.
  var isOfNetwork: Bool {
    error.code.isOfNetwork || records.values.contains { $0.code.isOfNetwork }
      || zones.values.contains { $0.code.isOfNetwork }
  }
}

/// How long to wait before trying again.
package struct Backoff: Hashable, Sendable {
  /// The wait after the first failure.
  package var first: Duration
  /// The longest wait.
  package var cap: Duration

  /// A back-off that doubles from `first` to `cap`.
  package init(first: Duration = .seconds(1), cap: Duration = .seconds(300)) {
    self.first = first
    self.cap = cap
  }

  /// The wait after `failures` failures in a row, at least 1.
  ///
  /// - Parameter jitter: A number from 0 up to 1 from outside; the wait is between half and the
  ///   whole of the doubled time, so that devices that failed together don't come back together.
  package func delay(afterFailures failures: Int, jitter: Double) -> Duration {
    let doublings = min(max(0, failures - 1), 30)
    let doubled = min(cap, first * (1 << doublings))
    let fraction = 0.5 + 0.5 * min(max(jitter, 0), 1)
    return doubled * fraction
  }
}
