import CloudProtocol
import Foundation
import Records
import Testing

@testable import CloudSync
@testable import CloudSyncTesting
@testable import LoopbackServer
@testable import SyncedStore

@Suite("The messages of errors")
struct LocalizedErrorTests {
  @Test("The localized description of each public error type is its message")
  func localizedDescriptionIsTheMessage() {
    let file = URL(fileURLWithPath: "/notes")
    let errors: [(error: any Error, words: String)] = [
      (SyncedStoreError(.notStarted, "start it first"), "start it first"),
      (FileError(.read, file, "no permission"), "cannot read /notes: no permission"),
      (CKError(.internalError, "it failed"), "it failed"),
      (FileStateStoreError(.inUse, "in use"), "in use"),
      (CloudError(.unknownItem, "no account"), "no account"),
      (ByteFormatError(offset: 3, reason: "too short"), "too short at byte 3"),
      (ServerFileError(.full, path: "/file", "the disk is full"), "the disk is full"),
      (DeviceError("could not be launched"), "could not be launched"),
      (ConformanceFailure(description: "has 1 defect"), "has 1 defect"),
      (SessionError(description: "a different call"), "a different call"),
    ]
    for (error, words) in errors {
      #expect(error.localizedDescription.contains(words), "\(type(of: error))")
    }
    let refusal = #expect(throws: CKSyncEngine.State.SerializationError.self) {
      try JSONDecoder().decode(
        CKSyncEngine.State.Serialization.self, from: JSONEncoder().encode(Data("{}".utf8)))
    }
    #expect(refusal?.localizedDescription == refusal?.message)
  }
}
