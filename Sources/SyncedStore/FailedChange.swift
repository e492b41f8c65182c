/// The reaction to a save or a deletion that the server refused, for every code of CloudKit.
enum FailedChange: Hashable, Sendable {
  /// The engine keeps the change and tries again.
  case isRetried
  /// The server has another version: both are merged.
  case merge
  /// The zone is missing: it is created, and the change is sent again.
  case createZone
  /// The user removed the app's data in the system's settings.
  case zoneWasPurged
  /// The record does not exist on the server.
  case recordIsGone
  /// The change failed only because others of its request did: it is sent again.
  case sendAgain
  /// The change may fit into a smaller request: it is sent again, a few times.
  case sendAgainAFewTimes
  /// The account's storage is full: the change waits until there is space.
  case keepForLater
  /// There is nothing to delete.
  case isDone
  /// The user is told; the change is sent again when the item changes, at the next start, or when
  /// the user asks for a sync.
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
    .serverRecordChanged: .merge,
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

  /// The reaction to a failed save.
  static func ofSave(_ code: CKError.Code) -> FailedChange { saves[code] ?? .tell }

  /// The reaction to a failed deletion; that to a save, where the table has no other.
  static func ofDeletion(_ code: CKError.Code) -> FailedChange {
    deletions[code] ?? ofSave(code)
  }
}
