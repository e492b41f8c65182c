package import CloudProtocol

/// The treatment of a change whose send failed.
package enum Disposition: Hashable, Sendable {
  /// The change is pending again and is retried later.
  case retry
  /// The change is removed and reported to the app, which may add it again.
  case surface
}

extension CloudError.Code {
  /// The treatment of each error code: CE-68 to CE-75 in Docs/Evidence/Engine.md, and
  /// Docs/Decisions/0004 for the undocumented codes.
  package var disposition: Disposition {
    switch self {
    // The documented list of errors that the engine handles itself.
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .zoneBusy, .accountTemporarilyUnavailable:
      .retry
    // An error of the account, not of the change; see Docs/Decisions/0015.
    case .managedAccountRestricted: .retry
    // Cancelled before the reply: the change itself may be valid.
    case .operationCancelled: .retry
    // It may have been applied; sending it again either repeats it or reports a conflict.
    case .serverResponseLost: .retry
    // These need the app: to merge, to create the zone, or to drop a change tag.
    case .serverRecordChanged, .zoneNotFound, .userDeletedZone, .unknownItem,
      .batchRequestFailed, .referenceViolation:
      .surface
    // These need the user or a smaller batch.
    case .limitExceeded, .quotaExceeded, .permissionFailure,
      .participantMayNeedVerification, .participantAlreadyInvited, .tooManyParticipants,
      .alreadyShared:
      .surface
    // These would fail again the same way.
    case .internalError, .badContainer, .missingEntitlement, .invalidArguments,
      .resultsTruncated, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
      .assetNotAvailable, .incompatibleVersion, .constraintViolation, .badDatabase:
      .surface
    // These never concern a single change.
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

  /// Whether a server that was reached refused the operation as a whole.
  var isRefusal: Bool {
    error.code != .partialFailure && error.code != .operationCancelled && !isOfNetwork
  }
}

/// The delay before a retry.
package struct Backoff: Hashable, Sendable {
  /// The delay after the first failure.
  package var first: Duration
  /// The maximum delay.
  package var cap: Duration

  /// Creates a back-off whose delay doubles from `first` to `cap`.
  package init(first: Duration = .seconds(1), cap: Duration = .seconds(300)) {
    self.first = first
    self.cap = cap
  }

  /// The delay after `failures` consecutive failures, at least 1.
  ///
  /// - Parameter jitter: A random number in 0..<1. The delay is between half and all of the doubled
  ///   time, so that devices that failed together don't retry together.
  package func delay(afterFailures failures: Int, jitter: Double) -> Duration {
    let doublings = min(max(0, failures - 1), 30)
    let doubled = min(cap, first * (1 << doublings))
    let fraction = 0.5 + 0.5 * min(max(jitter, 0), 1)
    return doubled * fraction
  }
}
