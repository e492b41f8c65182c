import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

@Suite("Errors")
struct ErrorTests {
  private func thrown(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "nothing"
    } catch CKError.zoneNotFound {
      return "zone"
    } catch let error as CKError where error.code == .unknownItem {
      return "item"
    } catch CKError.networkFailure, CKError.networkUnavailable {
      return "network"
    } catch let error as CKError {
      return "other \(error.code.rawValue)"
    } catch {
      return "foreign"
    }
  }

  /// Proves CS-104.
  @Test("Errors are caught by code, by type and by cast")
  func errorsAreCaughtByCodeTypeAndCast() {
    let table: [(any Error, String)] = [
      (CKError(.zoneNotFound), "zone"), (CKError(.unknownItem), "item"),
      (CKError(.networkUnavailable), "network"), (CKError(.networkFailure), "network"),
      (CKError(.quotaExceeded), "other 25"), (CocoaError(.fileNoSuchFile), "foreign"),
    ]
    for (error, expected) in table { #expect(thrown { throw error } == expected) }
    let error: any Error = CKError(.zoneBusy)
    #expect((error as? CKError)?.code == .zoneBusy)
  }

  /// Proves CS-3, CS-106.
  @Test("Each code has CloudKit's number and converts in both directions")
  func errorCodesMatchCloudKitNumbers() {
    #expect(CKError.Code.allCases.map(\.rawValue) == Array(1...37))
    for code in CloudError.Code.allCases {
      #expect(CKError(CloudError(code, "m")).code.rawValue == code.rawValue)
    }
  }

  /// Proves CS-104, CS-108.
  @Test("An error bridges to NSError with domain, code, text and userInfo")
  func errorBridgesToNSError() {
    let error = CKError(CloudError(.zoneBusy, "The zone Z is busy.", retryAfter: 1.5))
    let bridged = error as NSError
    #expect(bridged.domain == CKErrorDomain && bridged.code == 23)
    #expect(bridged.localizedDescription == "The zone Z is busy.")
    #expect((error as any Error).localizedDescription == "The zone Z is busy.")
    #expect(bridged.userInfo[CKErrorRetryAfterKey] as? Double == 1.5)
    #expect(bridged.userInfo[CKErrorRetryAfterKey] as? NSNumber == 1.5)
    #expect(error.retryAfterSeconds == 1.5)
    #expect(CKError(_nsError: bridged).code == .zoneBusy)
    #expect(CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 2]).retryAfterSeconds == 2)
    #expect(CKError(.internalError).localizedDescription.contains("CKErrorDomain"))
  }

  /// Proves CS-107, SC-154.
  @Test("A conflict carries the server's record, the client's record and their ancestor")
  func conflictErrorCarriesThreeRecords() {
    let id = RecordID(name: "n", zone: .default)
    let base = Record(id: id, type: "T", changeTag: ChangeTag("1"), fields: ["a": .int64(1)])
    let client = CKRecord(base)
    client["a"] = 2
    var server = base
    server.changeTag = ChangeTag("2")
    server.fields = ["a": .int64(3)]
    let error = CKError(
      CloudError(.serverRecordChanged, "changed", serverRecord: server), clientRecord: client)
    #expect(error.serverRecord?.value == server && error.serverRecord?.changedKeys() == [])
    #expect(error.clientRecord === client)
    #expect(error.ancestorRecord?["a"] as? Int == 1)
    let bridged = error as NSError
    #expect(bridged.userInfo[CKRecordChangedErrorServerRecordKey] is CKRecord)
    let new = CKRecord(recordType: "T", recordID: CKRecordID(id))
    let insert = CKError(
      CloudError(.serverRecordChanged, "exists", serverRecord: server), clientRecord: new)
    #expect(insert.ancestorRecord == nil && insert.clientRecord === new)
  }

  /// Proves CS-108.
  @Test("A partial failure lists its errors by ID, and the reset flag is kept")
  func partialFailureListsErrorsByID() {
    let id = CKRecord.ID(recordName: "n")
    let partial = CKError(partialFailure: [id: CKError(.unknownItem)])
    #expect((partial.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
    let own = CKError(
      .partialFailure, userInfo: [CKPartialErrorsByItemIDKey: [id: CKError(.quotaExceeded)]])
    #expect((own.partialErrorsByItemID?[id] as? CKError)?.code == .quotaExceeded)
    let reset = CKError(CloudError(.zoneNotFound, "reset", userDidResetEncryptedData: true))
    #expect(reset.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
    #expect(CKError(.zoneNotFound).userInfo[CKErrorUserDidResetEncryptedDataKey] == nil)
  }

  /// Proves CS-109.
  @Test("Errors can be compared and kept in sets")
  func errorsAreComparableAndHashable() {
    let busy = CKError(CloudError(.zoneBusy, "m", retryAfter: 1))
    let same = CKError(CloudError(.zoneBusy, "m", retryAfter: 1))
    let later = CKError(CloudError(.zoneBusy, "m", retryAfter: 2))
    #expect(busy == same && busy != later && busy != CKError(.unknownItem))
    #expect(Set([busy, same, later]).count == 2)
    let underlying = NSError(domain: "CKInternalErrorDomain", code: 2036)
    let wrapped = CKError(.zoneNotFound, userInfo: [NSUnderlyingErrorKey: underlying])
    #expect(Set([wrapped]).contains(CKError(.zoneNotFound)))
  }

  @Test("Errors differ when their texts, their records or the errors of their items do")
  func errorsDifferWhenAnyPartDoes() {
    func error(_ text: String, _ parts: [String: Any] = [:]) -> CKError {
      var userInfo = parts
      userInfo[NSLocalizedDescriptionKey] = text
      return CKError(.serverRecordChanged, userInfo: userInfo)
    }
    func record(_ tag: String) -> CKRecord {
      CKRecord(
        Record(id: RecordID(name: "n", zone: .default), type: "T", changeTag: ChangeTag(tag)))
    }
    #expect(error("m") == error("m") && error("m") != error("n"))
    for key in [
      CKRecordChangedErrorServerRecordKey, CKRecordChangedErrorClientRecordKey,
      CKRecordChangedErrorAncestorRecordKey,
    ] {
      #expect(error("m", [key: record("1")]) == error("m", [key: record("1")]))
      #expect(error("m", [key: record("1")]) != error("m", [key: record("2")]))
      #expect(error("m", [key: record("1")]) != error("m"))
    }
    func partial(_ code: CKError.Code) -> CKError {
      CKError(
        .partialFailure,
        userInfo: [CKPartialErrorsByItemIDKey: [CKRecord.ID(recordName: "n"): CKError(code)]])
    }
    #expect(partial(.unknownItem) == partial(.unknownItem))
    #expect(partial(.unknownItem) != partial(.zoneBusy))
  }

  @Test("A description has the code, the text and the number of items with each code")
  func errorDescriptionCountsItemCodes() {
    let ids = ["a", "b", "c"].map { CKRecord.ID(recordName: $0) }
    let partial = CKError(partialFailure: [
      ids[0]: CKError(.unknownItem), ids[1]: CKError(.zoneBusy), ids[2]: CKError(.unknownItem),
    ])
    #expect(
      "\(partial)" == "<CKError: partialFailure (2); 3 items failed; see partialErrorsByItemID."
        + " Codes: unknownItem (2), zoneBusy (1)>")
    let own = CKError(
      .partialFailure,
      userInfo: [
        NSLocalizedDescriptionKey: "Not sent",
        CKPartialErrorsByItemIDKey: [ids[0]: CKError(.zoneBusy)],
      ])
    #expect("\(own)" == "<CKError: partialFailure (2); Not sent. Codes: zoneBusy (1)>")
    #expect("\(CKError(CloudError(.zoneBusy, "Busy.")))" == "<CKError: zoneBusy (23); Busy.>")
  }

  @Test("The code of each name is the one that it names")
  func errorNamesAreTheirCodes() {
    let codes: [CKError.Code] = [
      CKError.internalError, CKError.partialFailure, CKError.networkUnavailable,
      CKError.networkFailure, CKError.badContainer, CKError.serviceUnavailable,
      CKError.requestRateLimited, CKError.missingEntitlement, CKError.notAuthenticated,
      CKError.permissionFailure, CKError.unknownItem, CKError.invalidArguments,
      CKError.resultsTruncated, CKError.serverRecordChanged, CKError.serverRejectedRequest,
      CKError.assetFileNotFound, CKError.assetFileModified, CKError.incompatibleVersion,
      CKError.constraintViolation, CKError.operationCancelled, CKError.changeTokenExpired,
      CKError.batchRequestFailed, CKError.zoneBusy, CKError.badDatabase, CKError.quotaExceeded,
      CKError.zoneNotFound, CKError.limitExceeded, CKError.userDeletedZone,
      CKError.tooManyParticipants, CKError.alreadyShared, CKError.referenceViolation,
      CKError.managedAccountRestricted, CKError.participantMayNeedVerification,
      CKError.serverResponseLost, CKError.assetNotAvailable,
      CKError.accountTemporarilyUnavailable, CKError.participantAlreadyInvited,
    ]
    #expect(codes == CKError.Code.allCases)
  }
}
