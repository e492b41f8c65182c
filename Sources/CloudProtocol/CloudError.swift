public import Records

/// Why the cloud, or the way to it, did not do something.
///
/// The codes are CloudKit's own, with its raw values. See CS-3.
public struct CloudError: Error, Hashable, Sendable, Codable {
  /// The kinds of failure, all 37 of them.
  public enum Code: Int, Hashable, Sendable, Codable, CaseIterable {
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
    /// Somebody else changed the record first.
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
    /// There is no storage left.
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
    /// The user is no participant yet.
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

  /// Why an account that is there can't be used.
  public enum AccountObstacle: String, Hashable, Sendable, Codable, CaseIterable {
    /// An administrator or a parent restricts it.
    case restricted
    /// Its status could not be determined.
    case undetermined
  }

  /// What kind of failure it was.
  public var code: Code

  /// What happened, to what, and what to do, in words; no record content.
  public var message: String

  /// How many seconds to wait before asking again, when the server said so.
  public var retryAfter: Double?

  /// Whether a `zoneNotFound` is due to a reset of encrypted data.
  public var userDidResetEncryptedData: Bool

  /// Why the account can't be used, for a `notAuthenticated` while an account is signed in; `nil`
  /// when none is.
  public var accountObstacle: AccountObstacle?

  /// Boxed, so that results that may be errors are no larger for it.
  private var boxedRecord: Boxed<Record>

  /// The record as it is on the server, for `serverRecordChanged`.
  public var serverRecord: Record? {
    get { boxedRecord.value }
    set { boxedRecord = Boxed(newValue) }
  }

  /// Describes a failure.
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
}

extension CloudError {
  private enum CodingKeys: String, CodingKey {
    case code, message, retryAfter, serverRecord, userDidResetEncryptedData, accountObstacle
  }

  /// Reads an error; where it keeps its members does not show.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try container.decode(Code.self, forKey: .code),
      try container.decode(String.self, forKey: .message),
      retryAfter: try container.decodeIfPresent(Double.self, forKey: .retryAfter),
      serverRecord: try container.decodeIfPresent(Record.self, forKey: .serverRecord),
      userDidResetEncryptedData: try container.decode(
        Bool.self, forKey: .userDidResetEncryptedData),
      accountObstacle: try container.decodeIfPresent(
        AccountObstacle.self, forKey: .accountObstacle))
  }

  /// Writes the error; what it has not is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(message, forKey: .message)
    try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
    try container.encodeIfPresent(serverRecord, forKey: .serverRecord)
    try container.encode(userDidResetEncryptedData, forKey: .userDidResetEncryptedData)
    try container.encodeIfPresent(accountObstacle, forKey: .accountObstacle)
  }
}

extension CloudError: CustomStringConvertible {
  /// The code's name and the message.
  public var description: String { "\(code) (\(code.rawValue)): \(message)" }
}
