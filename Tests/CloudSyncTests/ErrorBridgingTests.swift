import CloudSync
import Foundation
import Testing

@Suite("Errors: to NSError and back")
struct ErrorBridgingTests {
  private func caught(_ error: any Error) -> String {
    do {
      throw error
    } catch CKError.zoneNotFound {
      return "zone"
    } catch let error as CKError {
      return "\(error.code)"
    } catch {
      return "foreign"
    }
  }

  /// Proves CS-104.
  @Test("An NSError of CloudKit's domain is caught and cast as CKError; other errors are not")
  func cloudKitErrorIsCaughtFromNSError() {
    func error(_ domain: String, _ code: Int) -> NSError {
      NSError(domain: domain, code: code, userInfo: [CKErrorRetryAfterKey: 2.5])
    }
    let table: [(NSError, String)] = [
      (error(CKErrorDomain, 26), "zone"), (error(CKErrorDomain, 23), "zoneBusy"),
      (error(CKErrorDomain, 0), "foreign"), (error(CKErrorDomain, 99), "foreign"),
      (error(NSCocoaErrorDomain, 26), "foreign"), (CKError(.zoneNotFound) as NSError, "zone"),
      (CKError(.zoneNotFound)._nsError, "zone"),
    ]
    for (error, expected) in table {
      #expect(caught(error) == expected, "\(error.domain) \(error.code)")
      #expect((error as? CKError != nil) == (expected != "foreign"))
      #expect((error as any Error is CKError) == (expected != "foreign"))
    }
    #expect((error(CKErrorDomain, 7) as? CKError)?.retryAfterSeconds == 2.5)
  }

  /// Proves CS-108.
  @Test("Partial errors in Foundation's types are read too")
  func partialErrorsInFoundationTypesAreRead() {
    let id = CKRecord.ID(recordName: "n")
    let item = NSError(domain: CKErrorDomain, code: CKError.Code.unknownItem.rawValue)
    let table: [Any] = [
      NSDictionary(dictionary: [id: item]), [id: item] as [AnyHashable: any Error],
      [id: CKError(.unknownItem)], [id as AnyHashable: CKError(.unknownItem)],
    ]
    for (index, errors) in table.enumerated() {
      let error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: errors])
      let found = error.partialErrorsByItemID?[id] as? CKError
      #expect(found?.code == .unknownItem, "form \(index)")
      let back = (error as NSError) as? CKError
      #expect((back?.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
    }
  }

  /// Proves CS-106.
  @Test("Each code has a distinct description, and a custom text takes precedence")
  func errorCodesHaveDistinctDescriptions() {
    let texts = CKError.Code.allCases.map { CKError($0).localizedDescription }
    #expect(Set(texts).count == texts.count)
    for code in CKError.Code.allCases {
      let error: any Error = CKError(code)
      let expected = "(CKErrorDomain error \(code.rawValue).)"
      if !error.localizedDescription.hasSuffix(expected) { Issue.record("\(code)") }
      #expect((error as NSError).localizedDescription == error.localizedDescription)
    }
    let own = CKError(.zoneBusy, userInfo: [NSLocalizedDescriptionKey: "Mine."])
    #expect((own as any Error).localizedDescription == "Mine.")
  }

  @Test("An NSError of another domain or of an unknown code becomes an internal error")
  func otherErrorsBecomeInternalErrors() {
    for (domain, code) in [(NSCocoaErrorDomain, 23), (CKErrorDomain, 99), (CKErrorDomain, 0)] {
      let error = CKError(_nsError: NSError(domain: domain, code: code, userInfo: ["a": 1]))
      #expect(error.code == .internalError && error.userInfo["a"] as? Int == 1)
    }
    #expect(CKError._unconditionallyBridgeFromObjectiveC(nil).code == .internalError)
    let busy = CKError(.zoneBusy)._nsError
    #expect(CKError._unconditionallyBridgeFromObjectiveC(busy).code == .zoneBusy)
    var bridged: CKError?
    CKError._forceBridgeFromObjectiveC(busy, result: &bridged)
    #expect(bridged?.code == .zoneBusy)
  }
}
