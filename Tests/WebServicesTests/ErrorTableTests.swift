import CloudProtocol
import Records
import Testing
import WebServices

@Suite("The service's names for failures")
struct ErrorTableTests {
  private static let plain = Notation(container: "c", database: .private, isExact: false)
  private static let exact = Notation(container: "c", database: .private)

  /// Every name a server may say, its status, and what CloudKit calls it.
  private static let names: [(String, Int, CloudError.Code)] = [
    ("ACCESS_DENIED", 403, .permissionFailure), ("ATOMIC_ERROR", 400, .batchRequestFailed),
    ("AUTHENTICATION_FAILED", 401, .notAuthenticated),
    ("AUTHENTICATION_REQUIRED", 421, .notAuthenticated), ("BAD_REQUEST", 400, .invalidArguments),
    ("CONFLICT", 409, .serverRecordChanged), ("EXISTS", 409, .serverRecordChanged),
    ("INTERNAL_ERROR", 500, .internalError), ("NOT_FOUND", 404, .unknownItem),
    ("QUOTA_EXCEEDED", 413, .quotaExceeded), ("THROTTLED", 429, .requestRateLimited),
    ("TRY_AGAIN_LATER", 503, .serviceUnavailable),
    ("VALIDATING_REFERENCE_ERROR", 412, .referenceViolation),
    ("ZONE_NOT_FOUND", 404, .zoneNotFound), ("ZONE_BUSY", 503, .zoneBusy),
    ("UNIQUE_FIELD_ERROR", 409, .constraintViolation),
    ("CHANGE_TOKEN_EXPIRED", 400, .changeTokenExpired), ("LIMIT_EXCEEDED", 413, .limitExceeded),
    ("UNKNOWN_ITEM", 404, .unknownItem), ("SERVER_RECORD_CHANGED", 409, .serverRecordChanged),
    ("ATOMIC_FAILURE", 400, .batchRequestFailed),
    ("BATCH_REQUEST_FAILED", 400, .batchRequestFailed),
    ("INVALID_FIELD_TYPE", 400, .invalidArguments),
  ]

  /// What every code is called, and what is left of it without the extra member.
  private static let codes: [(CloudError.Code, String, CloudError.Code)] = [
    (.internalError, "INTERNAL_ERROR", .internalError),
    (.partialFailure, "INTERNAL_ERROR", .internalError),
    (.networkUnavailable, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.networkFailure, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.badContainer, "BAD_REQUEST", .invalidArguments),
    (.serviceUnavailable, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.requestRateLimited, "THROTTLED", .requestRateLimited),
    (.missingEntitlement, "ACCESS_DENIED", .permissionFailure),
    (.notAuthenticated, "AUTHENTICATION_REQUIRED", .notAuthenticated),
    (.permissionFailure, "ACCESS_DENIED", .permissionFailure),
    (.unknownItem, "NOT_FOUND", .unknownItem),
    (.invalidArguments, "BAD_REQUEST", .invalidArguments),
    (.resultsTruncated, "INTERNAL_ERROR", .internalError),
    (.serverRecordChanged, "CONFLICT", .serverRecordChanged),
    (.serverRejectedRequest, "BAD_REQUEST", .invalidArguments),
    (.assetFileNotFound, "BAD_REQUEST", .invalidArguments),
    (.assetFileModified, "BAD_REQUEST", .invalidArguments),
    (.incompatibleVersion, "BAD_REQUEST", .invalidArguments),
    (.constraintViolation, "UNIQUE_FIELD_ERROR", .constraintViolation),
    (.operationCancelled, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.changeTokenExpired, "BAD_REQUEST", .changeTokenExpired),
    (.batchRequestFailed, "ATOMIC_ERROR", .batchRequestFailed),
    (.zoneBusy, "ZONE_BUSY", .zoneBusy), (.badDatabase, "BAD_REQUEST", .invalidArguments),
    (.quotaExceeded, "QUOTA_EXCEEDED", .quotaExceeded),
    (.zoneNotFound, "ZONE_NOT_FOUND", .zoneNotFound),
    (.limitExceeded, "BAD_REQUEST", .invalidArguments),
    (.userDeletedZone, "ZONE_NOT_FOUND", .zoneNotFound),
    (.tooManyParticipants, "BAD_REQUEST", .invalidArguments),
    (.alreadyShared, "BAD_REQUEST", .invalidArguments),
    (.referenceViolation, "VALIDATING_REFERENCE_ERROR", .referenceViolation),
    (.managedAccountRestricted, "ACCESS_DENIED", .permissionFailure),
    (.participantMayNeedVerification, "ACCESS_DENIED", .permissionFailure),
    (.serverResponseLost, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.assetNotAvailable, "BAD_REQUEST", .invalidArguments),
    (.accountTemporarilyUnavailable, "TRY_AGAIN_LATER", .serviceUnavailable),
    (.participantAlreadyInvited, "BAD_REQUEST", .invalidArguments),
  ]

  /// Proves WS-89, WS-90.
  @Test("Every error name has its status and code")
  func errorNamesHaveStatusAndCode() throws {
    let found = Notation.errorCodes.map { "\($0.name) \($0.status) \($0.code)" }.sorted()
    let wanted = Self.names.map { "\($0) \($1) \($2)" }.sorted()
    var faults = zip(found, wanted).filter { $0 != $1 }.map { "\($0), not \($1)" }
    if found.count != wanted.count { faults.append("\(found.count) names") }
    for (name, _, code) in Self.names {
      let json = JSON.members([
        "serverErrorCode": .string(name), "reason": .string("r"), "retryAfter": .number(2.5),
        "uuid": .string("x"),
      ])
      let error = try Self.plain.error(json)
      if error != CloudError(code, "r", retryAfter: 2.5) {
        faults.append("\(name) is read as \(error as Any)")
      }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  /// Proves I15, WS-88, WS-90.
  @Test("Every code has a name and is read back as itself, or without extras as a similar code")
  func errorCodesRoundTripByName() throws {
    var faults: [String] = []
    for (code, name, plainCode) in Self.codes {
      let error = CloudError(code, "why", retryAfter: 1.25)
      let (exact, plain) = (Self.exact.json(error), Self.plain.json(error))
      if exact["serverErrorCode"]?.string != name || plain["serverErrorCode"]?.string != name {
        faults.append("\(code) is called \(exact.text)")
      }
      if try Self.exact.error(exact) != error { faults.append("\(code) is lost in \(exact.text)") }
      let message =
        code == .changeTokenExpired ? "Unknown sync continuation type" : "why"
      // Seconds are whole, and never fewer than meant.
      let rest = CloudError(plainCode, message, retryAfter: 2)
      if try Self.plain.error(plain) != rest || plain.text.contains(Notation.extra) {
        faults.append("\(code) becomes \(plain.text)")
      }
    }
    let named = Set(Self.codes.map(\.0))
    #expect(faults.isEmpty && named.count == CloudError.Code.allCases.count, "\(faults)")
  }

  /// Proves WS-91, WS-92.
  @Test("Only the reason of a bad request identifies an invalid token")
  func onlyReasonMarksInvalidToken() throws {
    let cases: [(String, String?, CloudError.Code)] = [
      ("BAD_REQUEST", "Unknown sync continuation type", .changeTokenExpired),
      ("BAD_REQUEST", "Invalid continuation format", .changeTokenExpired),
      ("BAD_REQUEST", "UNKNOWN SYNC CONTINUATION TYPE", .changeTokenExpired),
      ("BAD_REQUEST", "Field 'x' is not marked queryable", .invalidArguments),
      ("BAD_REQUEST", nil, .invalidArguments),
      ("NOT_FOUND", "Unknown sync continuation type", .unknownItem),
      ("SOMETHING_NEW", "r", .serverRejectedRequest), ("", nil, .serverRejectedRequest),
      ("bad_request", "r", .serverRejectedRequest),
    ]
    var faults: [String] = []
    for (name, reason, code) in cases {
      let json = JSON.members([
        "serverErrorCode": .string(name), "reason": reason.map { .string($0) },
      ])
      if try Self.plain.error(json)?.code != code { faults.append(json.text) }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  /// Proves WS-31.
  @Test("A body that is not an error is not read as one, and a damaged extra member is harmless")
  func nonErrorBodyIsNotError() throws {
    var faults: [String] = []
    for text in [
      "{}", "null", "[]", "1", "\"x\"", #"{"reason":"r"}"#, #"{"serverErrorCode":null}"#,
    ] where try Self.plain.error(JSON(parsing: Array(text.utf8))) != nil {
      faults.append(text)
    }
    for extra in [
      "null", "1", "\"x\"", "[]", "{}", #"{"code":0}"#, #"{"code":38}"#, #"{"code":1e300}"#,
      #"{"code":"x"}"#, #"{"code":9223372036854775807}"#, #"{"retryAfter":"x"}"#,
      #"{"retryAfter":"nan"}"#,
    ] {
      let text =
        #"{"serverErrorCode":"NOT_FOUND","reason":"r","retryAfter":3,"cloudsync":"# + extra + "}"
      let error = try Self.plain.error(JSON(parsing: Array(text.utf8)))
      if error != CloudError(.unknownItem, "r", retryAfter: 3) { faults.append(text) }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  /// Proves WS-30.
  @Test("Waiting times are whole seconds, and long ones are bounded")
  func waitingTimesAreWholeSeconds() {
    let times: [(Double, Int64)] = [
      (0, 0), (0.001, 1), (1, 1), (1.000_001, 2), (59.5, 60), (1e300, 60), (.infinity, 60),
      (.nan, 60), (-.infinity, 60),
    ]
    let wrong = times.filter { seconds, whole in
      let error = CloudError(.zoneBusy, "busy", retryAfter: seconds)
      return Self.plain.json(error)["retryAfter"]?.integer != whole
    }
    #expect(wrong.isEmpty, "\(wrong)")
  }
}
