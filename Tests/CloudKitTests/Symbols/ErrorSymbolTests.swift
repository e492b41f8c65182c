import CloudKit
import Testing

@Suite("Symbols of CKError, as apps use them")
struct ErrorSymbolTests {
  /// The message of an app for an error; it names every code that apps use.
  private func advice(_ error: Error) -> String {
    guard let error = error as? CKError else { return "not CloudKit" }
    switch error.code {
    case .networkUnavailable, .networkFailure: return "offline"
    case .serviceUnavailable, .requestRateLimited, .zoneBusy:
      return "wait \(error.retryAfterSeconds ?? 3)"
    case .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted:
      return "account"
    case .quotaExceeded: return "full"
    case .serverRecordChanged: return error.serverRecord == nil ? "conflict" : "merge"
    case .zoneNotFound, .userDeletedZone: return "zone"
    case .unknownItem: return "gone"
    case .partialFailure:
      guard let items = error.partialErrorsByItemID else { return "some" }
      return items.values.map(advice).sorted().joined(separator: "+")
    case .batchRequestFailed, .limitExceeded, .changeTokenExpired, .operationCancelled:
      return "again"
    case .permissionFailure, .participantMayNeedVerification, .tooManyParticipants, .alreadyShared:
      return "share"
    case .invalidArguments, .serverRejectedRequest, .constraintViolation, .referenceViolation:
      return "bug"
    case .assetFileNotFound, .assetFileModified, .assetNotAvailable: return "file"
    case .internalError, .badContainer, .badDatabase, .missingEntitlement, .incompatibleVersion,
      .serverResponseLost, .resultsTruncated:
      return "fatal"
    default: return "other"
    }
  }

  /// Proves CS-106, E6.
  @Test("Every error code can be switched over, and errors can be created, bridged and caught")
  func errorCodesAreSwitchedCreatedAndBridged() throws {
    for raw in 1...37 {
      let code = try #require(CKError.Code(rawValue: raw))
      let error = CKError(code)
      #expect(error.code.rawValue == raw && error.errorCode == raw)
      #expect(!error.localizedDescription.isEmpty && !advice(error).isEmpty)
      let bridged = error as NSError
      #expect(bridged.domain == CKErrorDomain && bridged.code == raw)
      #expect((bridged as Error as? CKError)?.code == code)
    }
    #expect(advice(CocoaError(.fileNoSuchFile)) == "not CloudKit")
    let record = CKRecord(recordType: "T")
    let conflict = CKError(
      .serverRecordChanged,
      userInfo: [
        CKRecordChangedErrorServerRecordKey: record, CKRecordChangedErrorClientRecordKey: record,
        CKRecordChangedErrorAncestorRecordKey: record,
      ])
    #expect(conflict.serverRecord === record && conflict.clientRecord === record)
    #expect(conflict.ancestorRecord === record && advice(conflict) == "merge")
    let busy = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 4.0])
    #expect(busy.retryAfterSeconds == 4 && busy.isTransient)
    #expect(busy.userInfo[CKErrorRetryAfterKey] as? Double == 4)
    let items: [AnyHashable: Error] = [record.recordID: conflict, "a": CKError(.unknownItem)]
    let partial = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
    #expect(advice(partial) == "gone+merge")
    do { throw partial } catch CKError.partialFailure {} catch { Issue.record("\(error)") }
    do { throw busy } catch let error as CKError where error.code == .zoneBusy {
      #expect(error.isTransient)
    } catch { Issue.record("\(error)") }
  }

  /// Proves CS-105.
  @Test("An error thrown by the service is a real CKError")
  func serviceThrowsRealCKError() async throws {
    let database = container("phone", "iCloud.error-symbols").privateCloudDatabase
    let id = CKRecord.ID(recordName: "none")
    do {
      _ = try await database.record(for: id)
      Issue.record("nothing is there")
    } catch let error as CKError {
      #expect(error.code == .unknownItem)
    }
    let record = CKRecord(recordType: "T", recordID: CKRecord.ID(recordName: "r"))
    try await database.save(record)
    let twin = CKRecord(recordType: "T", recordID: record.recordID)
    do {
      try await database.save(twin)
      Issue.record("the record exists")
    } catch {
      let server = (error as? CKError)?.userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
      #expect(server?.recordChangeTag == record.recordChangeTag)
    }
    do {
      _ = try await database.record(
        for: CKRecord.ID(recordName: "r", zoneID: .init(zoneName: "None")))
      Issue.record("there is no such zone")
    } catch CKError.zoneNotFound {
    }
  }
}
