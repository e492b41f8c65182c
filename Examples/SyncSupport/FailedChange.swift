public import CloudSync

/// What to do about a save or a deletion the cloud refused: a total table over CloudKit's codes.
public enum FailedChange: Hashable, Sendable {
  /// The engine keeps the change and tries again by itself.
  case isRetried
  /// Somebody else changed the record first: bring both versions together.
  case bringTogether
  /// The zone is missing: create it and send the change again.
  case createZone
  /// The person removed the app's data in the settings.
  case zoneWasPurged
  /// The record is gone from the cloud: forget its tag, ask the store.
  case recordIsGone
  /// The change was well but went down with others: send it again.
  case sendAgain
  /// It may fit the next time, in a smaller batch: send it again, but not for ever.
  case sendAgainAFewTimes
  /// No space left: tell, and keep it until there is.
  case keepForLater
  /// There is nothing to delete any more, which is what was wanted.
  case isDone
  /// Tell the person; the change stays in the outbox until the item changes or the next start.
  case tell

  /// What to do when a save failed with `code`.
  public static func ofSave(_ code: CKError.Code) -> FailedChange {
    switch code {
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .operationCancelled, .zoneBusy, .serverResponseLost,
      .accountTemporarilyUnavailable:
      .isRetried
    case .serverRecordChanged: .bringTogether
    case .zoneNotFound: .createZone
    case .userDeletedZone: .zoneWasPurged
    case .unknownItem: .recordIsGone
    case .batchRequestFailed: .sendAgain
    case .limitExceeded: .sendAgainAFewTimes
    case .quotaExceeded: .keepForLater
    case .internalError, .partialFailure, .badContainer, .missingEntitlement, .permissionFailure,
      .invalidArguments, .resultsTruncated, .serverRejectedRequest, .assetFileNotFound,
      .assetFileModified, .incompatibleVersion, .constraintViolation, .changeTokenExpired,
      .badDatabase, .tooManyParticipants, .alreadyShared, .referenceViolation,
      .managedAccountRestricted, .participantMayNeedVerification, .assetNotAvailable,
      .participantAlreadyInvited:
      .tell
    }
  }

  /// What to do when a deletion failed with `code`.
  public static func ofDeletion(_ code: CKError.Code) -> FailedChange {
    switch code {
    case .unknownItem, .zoneNotFound, .userDeletedZone: .isDone
    case .serverRecordChanged: .sendAgainAFewTimes
    case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
      .notAuthenticated, .operationCancelled, .zoneBusy, .serverResponseLost,
      .accountTemporarilyUnavailable, .batchRequestFailed, .limitExceeded, .quotaExceeded,
      .internalError, .partialFailure, .badContainer, .missingEntitlement, .permissionFailure,
      .invalidArguments, .resultsTruncated, .serverRejectedRequest, .assetFileNotFound,
      .assetFileModified, .incompatibleVersion, .constraintViolation, .changeTokenExpired,
      .badDatabase, .tooManyParticipants, .alreadyShared, .referenceViolation,
      .managedAccountRestricted, .participantMayNeedVerification, .assetNotAvailable,
      .participantAlreadyInvited:
      ofSave(code)
    }
  }
}
