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

  private static let saves: [CKError.Code: FailedChange] = [
    .networkUnavailable: .isRetried,
    .networkFailure: .isRetried,
    .serviceUnavailable: .isRetried,
    .requestRateLimited: .isRetried,
    .notAuthenticated: .isRetried,
    .operationCancelled: .isRetried,
    .zoneBusy: .isRetried,
    .serverResponseLost: .isRetried,
    .accountTemporarilyUnavailable: .isRetried,
    .serverRecordChanged: .bringTogether,
    .zoneNotFound: .createZone,
    .userDeletedZone: .zoneWasPurged,
    .unknownItem: .recordIsGone,
    .batchRequestFailed: .sendAgain,
    .limitExceeded: .sendAgainAFewTimes,
    .quotaExceeded: .keepForLater,
  ]

  private static let deletions: [CKError.Code: FailedChange] = [
    .unknownItem: .isDone,
    .zoneNotFound: .isDone,
    .userDeletedZone: .isDone,
    .serverRecordChanged: .sendAgainAFewTimes,
  ]

  /// What to do when a save failed with `code`.
  public static func ofSave(_ code: CKError.Code) -> FailedChange { saves[code] ?? .tell }

  /// What to do when a deletion failed with `code`; as for a save, where nothing else is said.
  public static func ofDeletion(_ code: CKError.Code) -> FailedChange {
    deletions[code] ?? ofSave(code)
  }
}
