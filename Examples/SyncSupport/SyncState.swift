public import CloudSync
public import Foundation

/// Where sync stands, as a person is shown it.
public enum SyncState: Hashable, Sendable {
  /// A sync is under way.
  case syncing
  /// The last sync succeeded.
  case synced(lastSyncDate: Date)
  /// The last sync failed.
  case failed(SyncFailure)
  /// The cloud can't be reached, or nobody is signed in.
  case offline
}

/// Why a sync failed, in words for people.
public struct SyncFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public var code: CKError.Code

  /// What to tell; `nil` for what is settled without the person.
  public var message: String?

  /// Whether it is tried again without anybody's doing.
  public var isRetrying: Bool

  /// A failure of the kind `code`.
  ///
  /// - Parameter detail: the error's own sentence, for kinds without a fixed message.
  public init(_ code: CKError.Code, isRetrying: Bool, detail: String? = nil) {
    self.code = code
    self.isRetrying = isRetrying
    message = Self.message(code, isRetrying: isRetrying, detail: detail)
  }

  /// The message, or the code's name.
  public var description: String { message ?? "\(code)" }

  /// Whether failures of this kind mean that there is no cloud at all for now.
  public static func meansOffline(_ code: CKError.Code) -> Bool {
    switch code {
    case .networkUnavailable, .networkFailure, .notAuthenticated, .accountTemporarilyUnavailable,
      .managedAccountRestricted:
      true
    case .internalError, .partialFailure, .badContainer, .serviceUnavailable, .requestRateLimited,
      .missingEntitlement, .permissionFailure, .unknownItem, .invalidArguments, .resultsTruncated,
      .serverRecordChanged, .serverRejectedRequest, .assetFileNotFound, .assetFileModified,
      .incompatibleVersion, .constraintViolation, .operationCancelled, .changeTokenExpired,
      .batchRequestFailed, .zoneBusy, .badDatabase, .quotaExceeded, .zoneNotFound, .limitExceeded,
      .userDeletedZone, .tooManyParticipants, .alreadyShared, .referenceViolation,
      .participantMayNeedVerification, .serverResponseLost, .assetNotAvailable,
      .participantAlreadyInvited:
      false
    }
  }

  /// The table of messages; a promise to retry is left out when no retry follows.
  private static func message(
    _ code: CKError.Code, isRetrying: Bool, detail: String?
  ) -> String? {
    let retrying = isRetrying ? " Retrying..." : ""
    switch code {
    case .networkUnavailable, .networkFailure:
      return "No internet. Will sync when online."
    case .quotaExceeded:
      return "iCloud storage full. Free up space in Settings → iCloud."
    case .zoneBusy, .serviceUnavailable, .requestRateLimited, .serverResponseLost:
      return "iCloud temporarily unavailable." + retrying
    case .partialFailure, .batchRequestFailed, .limitExceeded:
      return "Some data couldn't sync." + retrying
    case .serverRecordChanged, .changeTokenExpired, .operationCancelled:
      return nil
    case .notAuthenticated:
      return "Not signed in to iCloud. Sign in to sync."
    case .accountTemporarilyUnavailable:
      return "Your iCloud account isn't ready. Will sync when it is."
    case .managedAccountRestricted:
      return "This iCloud account is not allowed to sync."
    case .internalError, .badContainer, .missingEntitlement, .permissionFailure, .unknownItem,
      .invalidArguments, .resultsTruncated, .serverRejectedRequest, .assetFileNotFound,
      .assetFileModified, .incompatibleVersion, .constraintViolation, .badDatabase, .zoneNotFound,
      .userDeletedZone, .tooManyParticipants, .alreadyShared, .referenceViolation,
      .participantMayNeedVerification, .assetNotAvailable, .participantAlreadyInvited:
      return "Sync failed: \(detail ?? "\(code)")" + retrying
    }
  }
}
