public import SyncSupport

/// What an error of the cloud means for ideas: what people are told, and what the store does.
///
/// A total table over CloudKit's codes; the six that the design names come first.
public struct IdeaErrorRule: Hashable, Sendable {
  /// What the store does.
  public enum Handling: Hashable, Sendable {
    /// Works offline until somebody signs in.
    case workOffline
    /// Tries again after 1, 2 and 4 seconds, then queues until something happens.
    case retry
    /// Tries again after a minute, or when the server says.
    case waitAMinute
    /// Lets the later change win.
    case resolve
    /// Stops uploads until the person made space and syncs by hand; never retried.
    case askForSpace
    /// Makes the record anew, because the change is later than the deletion that it met.
    case makeAnew
    /// Sends it again with the next request.
    case sendAgain
    /// Keeps the change, and leaves it alone until it is edited, or synced by hand.
    case holdBack
  }

  /// What people are told; `nil` for what is settled without them.
  public var message: String?

  /// What the store does.
  public var handling: Handling

  private init(_ handling: Handling, _ message: String? = nil) {
    self.handling = handling
    self.message = message
  }

  /// The rule for a code.
  public static func rule(for code: CKError.Code) -> IdeaErrorRule {
    switch code {
    case .notAuthenticated:
      IdeaErrorRule(
        .workOffline,
        "You are not signed in to iCloud. Sign in to sync; ideas stay on this device "
          + "until then.")
    case .networkFailure, .networkUnavailable:
      IdeaErrorRule(.retry, "No network. Ideas are kept and sync when it is back.")
    case .serverRecordChanged:
      IdeaErrorRule(.resolve)
    case .quotaExceeded:
      IdeaErrorRule(
        .askForSpace, "Your iCloud storage is full. Make space in Settings → iCloud, then sync.")
    case .internalError:
      IdeaErrorRule(.retry, "iCloud has a problem. Ideas are kept and sent again.")
    case .zoneBusy:
      IdeaErrorRule(.waitAMinute, "iCloud is busy. Ideas are sent again in a moment.")
    case .serviceUnavailable, .requestRateLimited, .serverResponseLost:
      IdeaErrorRule(.retry, "iCloud can't be reached right now. Ideas are kept and sent again.")
    case .accountTemporarilyUnavailable:
      IdeaErrorRule(.workOffline, "Your iCloud account isn't ready. Ideas sync when it is.")
    case .managedAccountRestricted:
      IdeaErrorRule(.workOffline, "This iCloud account may not sync.")
    case .operationCancelled:
      IdeaErrorRule(.sendAgain)
    case .batchRequestFailed, .limitExceeded, .partialFailure, .changeTokenExpired,
      .resultsTruncated:
      IdeaErrorRule(.sendAgain, "Some ideas did not sync. They are kept and sent again.")
    case .unknownItem:
      IdeaErrorRule(.makeAnew)
    case .badContainer, .missingEntitlement, .permissionFailure, .invalidArguments,
      .serverRejectedRequest, .assetFileNotFound, .assetFileModified, .incompatibleVersion,
      .constraintViolation, .badDatabase, .zoneNotFound, .userDeletedZone, .tooManyParticipants,
      .alreadyShared, .referenceViolation, .participantMayNeedVerification, .assetNotAvailable,
      .participantAlreadyInvited:
      IdeaErrorRule(
        .holdBack, "iCloud does not take these ideas (\(code)). They are kept on this device.")
    }
  }
}
