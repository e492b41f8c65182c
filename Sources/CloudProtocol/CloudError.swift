public import Records

/// An error of the server or of the transport.
///
/// The codes have CloudKit's raw values. See CS-3.
public struct CloudError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The 37 error codes.
  public enum Code: Int, Hashable, Sendable, Codable, CaseIterable {
    /// An internal error of the service; not recoverable.
    case internalError = 1
    /// Some items failed, with their own errors.
    case partialFailure = 2
    /// There is no network.
    case networkUnavailable = 3
    /// The request failed because of a network error.
    case networkFailure = 4
    /// The container is unknown or not allowed.
    case badContainer = 5
    /// The service is unavailable or throttles requests.
    case serviceUnavailable = 6
    /// The client sends too many requests.
    case requestRateLimited = 7
    /// The app lacks an entitlement.
    case missingEntitlement = 8
    /// No account is signed in.
    case notAuthenticated = 9
    /// The account lacks the permission.
    case permissionFailure = 10
    /// The record or subscription does not exist.
    case unknownItem = 11
    /// The request is invalid.
    case invalidArguments = 12
    /// Not used any more.
    case resultsTruncated = 13
    /// The record was changed on the server since the client fetched it.
    case serverRecordChanged = 14
    /// The server rejected the request.
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
    /// The change token has expired; fetch everything again.
    case changeTokenExpired = 21
    /// Another change of the same atomic batch failed.
    case batchRequestFailed = 22
    /// Too many clients write to the zone at once.
    case zoneBusy = 23
    /// The database does not support the request.
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
    /// An asset's file can't be read at present.
    case assetNotAvailable = 35
    /// The account is not ready.
    case accountTemporarilyUnavailable = 36
    /// The user has already been invited.
    case participantAlreadyInvited = 37
  }

  /// The reason why a signed-in account can't be used.
  public enum AccountObstacle: String, Hashable, Sendable, Codable, CaseIterable {
    /// An administrator or a parent restricts it.
    case restricted
    /// Its status could not be determined.
    case undetermined
  }

  /// The error code.
  public var code: Code

  /// A description of the error, its subject and the remedy, without record content.
  public var message: String

  /// The number of seconds that the server asked to wait before a retry.
  public var retryAfter: Double?

  /// The time that the server asked to wait, at most seven days; `nil` if it named none.
  package var wait: Duration? {
    guard let seconds = retryAfter, seconds > 0, seconds.isFinite else { return nil }
    return .seconds(min(seconds, 7 * 86_400))
  }

  /// Whether a `zoneNotFound` is due to a reset of encrypted data.
  public var userDidResetEncryptedData: Bool

  /// The reason why the signed-in account can't be used, for `notAuthenticated`; `nil` if no
  /// account is signed in.
  public var accountObstacle: AccountObstacle?

  /// The server's version of the record, for `serverRecordChanged`.
  public var serverRecord: Record? {
    get { boxedRecord.value }
    set { boxedRecord = Boxed(newValue) }
  }

  /// Boxed, to keep results that may be errors small.
  private var boxedRecord: Boxed<Record>

  /// The encoding does not depend on the storage of the members.
  private enum CodingKeys: String, CodingKey {
    case code, message, retryAfter, userDidResetEncryptedData, accountObstacle
    case boxedRecord = "serverRecord"
  }

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, retryAfter: Double? = nil, serverRecord: Record? = nil,
    userDidResetEncryptedData: Bool = false, accountObstacle: AccountObstacle? = nil
  ) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
    boxedRecord = Boxed(serverRecord)
    self.userDidResetEncryptedData = userDidResetEncryptedData
    self.accountObstacle = accountObstacle
  }

  /// The code's name and the message.
  public var description: String { "\(code) (\(code.rawValue)): \(message)" }
}
