package import CloudProtocol
package import Records

/// Errors: of a request as a whole with an HTTP status, or of an item in a response with status
/// 200.
///
/// There is no official mapping of these codes to CloudKit's; this table maps them by meaning.
/// Between two sides that understand the extra member, the exact code is sent. Source: web-services
/// 1.12 and 2.
extension Notation {
  /// An error code of the service.
  package struct ErrorCode: Hashable, Sendable {
    /// The name, such as `NOT_FOUND`.
    package var name: String
    /// The default HTTP status.
    package var status: Int
    /// The corresponding CloudKit code.
    package var code: CloudError.Code
  }

  /// All codes; those to which CloudKit's codes are mapped come first.
  package static let errorCodes: [ErrorCode] = [
    ErrorCode(name: "ACCESS_DENIED", status: 403, code: .permissionFailure),
    ErrorCode(name: "ATOMIC_ERROR", status: 400, code: .batchRequestFailed),
    ErrorCode(name: "AUTHENTICATION_REQUIRED", status: 421, code: .notAuthenticated),
    ErrorCode(name: "AUTHENTICATION_FAILED", status: 401, code: .notAuthenticated),
    ErrorCode(name: "BAD_REQUEST", status: 400, code: .invalidArguments),
    ErrorCode(name: "CONFLICT", status: 409, code: .serverRecordChanged),
    ErrorCode(name: "EXISTS", status: 409, code: .serverRecordChanged),
    ErrorCode(name: "INTERNAL_ERROR", status: 500, code: .internalError),
    ErrorCode(name: "NOT_FOUND", status: 404, code: .unknownItem),
    ErrorCode(name: "QUOTA_EXCEEDED", status: 413, code: .quotaExceeded),
    ErrorCode(name: "THROTTLED", status: 429, code: .requestRateLimited),
    ErrorCode(name: "TRY_AGAIN_LATER", status: 503, code: .serviceUnavailable),
    ErrorCode(name: "VALIDATING_REFERENCE_ERROR", status: 412, code: .referenceViolation),
    ErrorCode(name: "ZONE_NOT_FOUND", status: 404, code: .zoneNotFound),
    ErrorCode(name: "ZONE_BUSY", status: 503, code: .zoneBusy),
    ErrorCode(name: "UNIQUE_FIELD_ERROR", status: 409, code: .constraintViolation),
    ErrorCode(name: "CHANGE_TOKEN_EXPIRED", status: 400, code: .changeTokenExpired),
    ErrorCode(name: "LIMIT_EXCEEDED", status: 413, code: .limitExceeded),
    ErrorCode(name: "UNKNOWN_ITEM", status: 404, code: .unknownItem),
    ErrorCode(name: "SERVER_RECORD_CHANGED", status: 409, code: .serverRecordChanged),
    ErrorCode(name: "ATOMIC_FAILURE", status: 400, code: .batchRequestFailed),
    ErrorCode(name: "BATCH_REQUEST_FAILED", status: 400, code: .batchRequestFailed),
    ErrorCode(name: "INVALID_FIELD_TYPE", status: 400, code: .invalidArguments),
  ]

  private static let fallback = ErrorCode(
    name: "INTERNAL_ERROR", status: 500, code: .internalError)

  /// The error code of the service for a CloudKit code.
  package static func errorCode(for code: CloudError.Code) -> ErrorCode {
    let closest: CloudError.Code =
      switch code {
      case .internalError, .resultsTruncated, .partialFailure: .internalError
      case .networkUnavailable, .networkFailure, .serverResponseLost, .serviceUnavailable,
        .accountTemporarilyUnavailable, .operationCancelled:
        .serviceUnavailable
      case .missingEntitlement, .permissionFailure, .managedAccountRestricted,
        .participantMayNeedVerification:
        .permissionFailure
      case .badContainer, .invalidArguments, .serverRejectedRequest, .incompatibleVersion,
        .badDatabase, .assetFileNotFound, .assetFileModified, .assetNotAvailable,
        .tooManyParticipants,
        .alreadyShared, .participantAlreadyInvited, .limitExceeded, .changeTokenExpired:
        // The service has one code for all invalid requests, including invalid tokens.
        .invalidArguments
      case .userDeletedZone, .zoneNotFound: .zoneNotFound
      case .notAuthenticated, .requestRateLimited, .unknownItem, .serverRecordChanged,
        .constraintViolation, .batchRequestFailed, .zoneBusy, .quotaExceeded,
        .referenceViolation:
        code
      }
    return errorCodes.first { $0.code == closest } ?? fallback
  }

  /// Encodes an error.
  package func json(_ error: CloudError, of item: JSON.Members = JSON.Members()) -> JSON {
    let code = Notation.errorCode(for: error.code)
    var members = item
    // The service's reason text, by which other clients recognize an invalid token.
    let reason =
      error.code == .changeTokenExpired ? Notation.unknownToken : error.message
    members.add("reason", .string(reason))
    members.add("serverErrorCode", .string(code.name))
    members.add("retryAfter", error.retryAfter.map(Notation.seconds))
    guard isExact else { return .object(members) }
    members.add(
      Notation.extra,
      .members([
        "code": .integer(error.code.rawValue),
        "message": reason == error.message ? nil : .string(error.message),
        "serverRecord": error.serverRecord.map(json),
        "userDidResetEncryptedData": error.userDidResetEncryptedData ? .bool(true) : nil,
        "account": error.accountObstacle.map { .string($0.rawValue) },
        "retryAfter": error.retryAfter.map { .string($0.description) },
      ]))
    return .object(members)
  }

  private static let unknownToken = "Unknown sync continuation type"

  private static func seconds(_ value: Double) -> JSON {
    guard let whole = Int64(exactly: value.rounded(.up)) else { return .integer(60) }
    return .integer(whole)
  }

  /// Decodes an error; `nil` if `json` does not describe one.
  package func error(_ json: JSON, in zone: ZoneID = .default) throws(CloudError) -> CloudError? {
    guard let name = json["serverErrorCode"]?.string else { return nil }
    let reason = json["reason"]?.string ?? "the server gave no reason"
    var error = CloudError(
      Notation.code(name, reason: reason), reason, retryAfter: json["retryAfter"]?.double)
    guard let extra = json[Notation.extra] else { return error }
    if let code = extra["code"]?.integer.flatMap({ Int(exactly: $0) })
      .flatMap({ CloudError.Code(rawValue: $0) })
    {
      error.code = code
    }
    error.message = try extra.optionalText("message") ?? error.message
    error.retryAfter = extra["retryAfter"]?.double ?? error.retryAfter
    error.userDidResetEncryptedData = try extra.flag("userDidResetEncryptedData") ?? false
    error.accountObstacle = try extra.optionalText("account").flatMap {
      CloudError.AccountObstacle(rawValue: $0)
    }
    if let record = extra["serverRecord"] {
      error.serverRecord = try self.record(record, in: zone)
    }
    return error
  }

  /// The CloudKit code for a service code and its reason.
  private static func code(_ name: String, reason: String) -> CloudError.Code {
    let reason = reason.lowercased()
    if name == "BAD_REQUEST",
      reason.contains("sync continuation") || reason.contains("continuation format")
    {
      // Apple's service has no other indication of an invalid token.
      return .changeTokenExpired
    }
    return errorCodes.first { $0.name == name }?.code ?? .serverRejectedRequest
  }
}
