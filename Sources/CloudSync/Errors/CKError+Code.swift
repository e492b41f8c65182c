package import CloudProtocol

extension CKError {
  /// The kinds of failure, with CloudKit's numbers (CS-3).
  public enum Code: Int, Sendable, CaseIterable {
    /// A fault inside the service; not recoverable.
    case internalError = 1
    /// Some items failed; the items carry their own errors.
    case partialFailure = 2
    /// There is no network.
    case networkUnavailable = 3
    /// There is a network, but the request failed on it.
    case networkFailure = 4
    /// The container is unknown or not allowed.
    case badContainer = 5
    /// The service is down or throttles.
    case serviceUnavailable = 6
    /// The client asks too often.
    case requestRateLimited = 7
    /// The app lacks an entitlement.
    case missingEntitlement = 8
    /// No account is signed in.
    case notAuthenticated = 9
    /// The account may not do this.
    case permissionFailure = 10
    /// The record or subscription does not exist.
    case unknownItem = 11
    /// The request makes no sense.
    case invalidArguments = 12
    /// Never returned any more.
    case resultsTruncated = 13
    /// The record was changed on the server since the client fetched it.
    case serverRecordChanged = 14
    /// The server will not do this.
    case serverRejectedRequest = 15
    /// An asset's file is missing.
    case assetFileNotFound = 16
    /// An asset's file changed during the upload.
    case assetFileModified = 17
    /// The app's version is too old.
    case incompatibleVersion = 18
    /// A unique field is not unique.
    case constraintViolation = 19
    /// The operation was cancelled.
    case operationCancelled = 20
    /// The change token is too old: fetch everything again.
    case changeTokenExpired = 21
    /// Another change of the same atomic batch failed.
    case batchRequestFailed = 22
    /// Too many clients write to the zone at once.
    case zoneBusy = 23
    /// This database does not do this.
    case badDatabase = 24
    /// The storage quota is exceeded.
    case quotaExceeded = 25
    /// The zone does not exist.
    case zoneNotFound = 26
    /// Too many items or bytes at once.
    case limitExceeded = 27
    /// The user deleted the zone in the settings.
    case userDeletedZone = 28
    /// The share has too many participants.
    case tooManyParticipants = 29
    /// The record is in another share already.
    case alreadyShared = 30
    /// A parent or share is missing, or a deletion would leave children behind.
    case referenceViolation = 31
    /// The account is restricted by its administrator.
    case managedAccountRestricted = 32
    /// The user has not confirmed the participation yet.
    case participantMayNeedVerification = 33
    /// The request may or may not have been applied.
    case serverResponseLost = 34
    /// An asset's file cannot be read now.
    case assetNotAvailable = 35
    /// There is an account, but it is not ready.
    case accountTemporarilyUnavailable = 36
    /// The user is invited already.
    case participantAlreadyInvited = 37
  }
}

extension CKError.Code {
  /// The code of the vocabulary, which has the same numbers.
  package init(_ code: CloudError.Code) {
    self = CKError.Code(rawValue: code.rawValue) ?? .internalError
  }

  /// The code as the vocabulary spells it.
  package var value: CloudError.Code { CloudError.Code(rawValue: rawValue) ?? .internalError }

  /// Lets `catch CKError.zoneNotFound` match the error that is thrown.
  public static func ~= (code: CKError.Code, error: any Error) -> Bool {
    (error as? CKError)?.code == code
  }
}

/// The codes by the names that `catch CKError.zoneNotFound` uses.
extension CKError {
  /// A fault inside the service; not recoverable.
  public static var internalError: CKError.Code { .internalError }
  /// Some items failed; the items carry their own errors.
  public static var partialFailure: CKError.Code { .partialFailure }
  /// There is no network.
  public static var networkUnavailable: CKError.Code { .networkUnavailable }
  /// There is a network, but the request failed on it.
  public static var networkFailure: CKError.Code { .networkFailure }
  /// The container is unknown or not allowed.
  public static var badContainer: CKError.Code { .badContainer }
  /// The service is down or throttles.
  public static var serviceUnavailable: CKError.Code { .serviceUnavailable }
  /// The client asks too often.
  public static var requestRateLimited: CKError.Code { .requestRateLimited }
  /// The app lacks an entitlement.
  public static var missingEntitlement: CKError.Code { .missingEntitlement }
  /// No account is signed in.
  public static var notAuthenticated: CKError.Code { .notAuthenticated }
  /// The account may not do this.
  public static var permissionFailure: CKError.Code { .permissionFailure }
  /// The record or subscription does not exist.
  public static var unknownItem: CKError.Code { .unknownItem }
  /// The request makes no sense.
  public static var invalidArguments: CKError.Code { .invalidArguments }
  /// Never returned any more.
  public static var resultsTruncated: CKError.Code { .resultsTruncated }
  /// The record was changed on the server since the client fetched it.
  public static var serverRecordChanged: CKError.Code { .serverRecordChanged }
  /// The server will not do this.
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
  /// The change token is too old: fetch everything again.
  public static var changeTokenExpired: CKError.Code { .changeTokenExpired }
  /// Another change of the same atomic batch failed.
  public static var batchRequestFailed: CKError.Code { .batchRequestFailed }
  /// Too many clients write to the zone at once.
  public static var zoneBusy: CKError.Code { .zoneBusy }
  /// This database does not do this.
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
  /// An asset's file cannot be read now.
  public static var assetNotAvailable: CKError.Code { .assetNotAvailable }
  /// There is an account, but it is not ready.
  public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }
  /// The user is invited already.
  public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
