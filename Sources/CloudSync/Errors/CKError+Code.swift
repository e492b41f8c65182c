public import CloudProtocol

extension CKError {
  /// The error codes, with CloudKit's raw values (CS-3).
  public typealias Code = CloudError.Code
}

extension CKError.Code {
  /// Makes `catch CKError.zoneNotFound` match the thrown error.
  public static func ~= (code: CKError.Code, error: any Error) -> Bool {
    (error as? CKError)?.code == code
  }
}

/// The codes by the names in `catch CKError.zoneNotFound`.
extension CKError {
  /// An internal error of the service; not recoverable.
  public static var internalError: CKError.Code { .internalError }
  /// Some items failed, with their own errors.
  public static var partialFailure: CKError.Code { .partialFailure }
  /// There is no network.
  public static var networkUnavailable: CKError.Code { .networkUnavailable }
  /// The request failed because of a network error.
  public static var networkFailure: CKError.Code { .networkFailure }
  /// The container is unknown or not allowed.
  public static var badContainer: CKError.Code { .badContainer }
  /// The service is unavailable or throttles requests.
  public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
  /// The client sends too many requests.
  public static var requestRateLimited: CKError.Code { .requestRateLimited }
  /// The app lacks an entitlement.
  public static var missingEntitlement: CKError.Code { .missingEntitlement }
  /// No account is signed in.
  public static var notAuthenticated: CKError.Code { .notAuthenticated }
  /// The account lacks the permission.
  public static var permissionFailure: CKError.Code { .permissionFailure }
  /// The record or subscription does not exist.
  public static var unknownItem: CKError.Code { .unknownItem }
  /// The request is invalid.
  public static var invalidArguments: CKError.Code { .invalidArguments }
  /// Not used any more.
  public static var resultsTruncated: CKError.Code { .resultsTruncated }
  /// The record was changed on the server since the client fetched it.
  public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
  /// The server rejected the request as a whole; repeating it does not help.
  public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }
  /// An asset's file is missing.
  public static var assetFileNotFound: CKError.Code { .assetFileNotFound }
  /// An asset's file changed during the upload.
  public static var assetFileModified: CKError.Code { .assetFileModified }
  /// The app's version is too old.
  public static var incompatibleVersion: CKError.Code { .incompatibleVersion }
  /// A unique field is not unique.
  public static var constraintViolation: CKError.Code { .constraintViolation }
  /// The operation was cancelled.
  public static var operationCancelled: CKError.Code { .operationCancelled }
  /// The change token has expired; fetch everything again.
  public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
  /// Another change of the same atomic batch failed.
  public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
  /// Too many clients write to the zone at once.
  public static var zoneBusy: CKError.Code { .zoneBusy }
  /// The database does not support the request.
  public static var badDatabase: CKError.Code { .badDatabase }
  /// The storage quota is exceeded.
  public static var quotaExceeded: CKError.Code { .quotaExceeded }
  /// The zone does not exist.
  public static var zoneNotFound: CKError.Code { .zoneNotFound }
  /// Too many items or bytes at once.
  public static var limitExceeded: CKError.Code { .limitExceeded }
  /// The user deleted the zone in the settings.
  public static var userDeletedZone: CKError.Code { .userDeletedZone }
  /// The share has too many participants.
  public static var tooManyParticipants: CKError.Code { .tooManyParticipants }
  /// The record is in another share already.
  public static var alreadyShared: CKError.Code { .alreadyShared }
  /// A parent or share is missing, or a deletion would leave children behind.
  public static var referenceViolation: CKError.Code { .referenceViolation }
  /// The account is restricted by its administrator.
  public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }
  /// The user has not confirmed the participation yet.
  public static var participantMayNeedVerification: CKError.Code { .participantMayNeedVerification }
  /// The request may or may not have been applied.
  public static var serverResponseLost: CKError.Code { .serverResponseLost }
  /// An asset's file can't be read at present.
  public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
  /// The account is not ready.
  public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
  /// The user has already been invited.
  public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
